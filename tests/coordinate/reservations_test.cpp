// Jobs that a batch system announces and ends.
#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

constexpr uint32_t owner = 1000, other = 1001;

/// With an administrator, who has reserved `job` for its owner.
conversation with_reserved(const std::string& job, int64_t processes = 0, int64_t nodes = 0) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.connect("slurmd", 0, true);
    c.say("slurmd", reserve{job, owner, processes, nodes});
    c.look();
    return c;
}

/// The applications that a coordinator knows.
std::vector<std::string> known(const conversation& c) {
    std::vector<std::string> jobs;
    for (const application_state& one : c.told.state().applications) jobs.push_back(one.job);
    return jobs;
}

/// The first step of job 12 has the turn, and another application waits for it.
void begin_phases(conversation& c, uint32_t user, uint32_t waiting_user) {
    c.join("slurm-12.0", user);
    c.join("waits", waiting_user);
    c.say("slurm-12.0", stopped{c.lease["slurm-12.0"]});  // of the time when it was alone
    c.say("slurm-12.0", phase_of(1));
    c.say("waits", phase_of(1));
    ASSERT_TRUE(c.has_turn("slurm-12.0"));
    c.look();
}

TEST(reservations, a_reserved_job_cannot_be_registered_by_another_user) {
    conversation c = with_reserved("slurm-12");
    c.join("slurm-12.0", other);
    const std::vector<std::string> lines = c.look();
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[1],
              "slurm-12.0 <- refused: job 'slurm-12.0' is reserved for user 1000 by the batch system; this is user "
              "1001");
    EXPECT_EQ(lines[2], "slurm-12.0 closed");
    EXPECT_EQ(c.told.counted().refused_claims, 1U);
    EXPECT_TRUE(known(c).empty());
}

TEST(reservations, the_owner_registers_steps_of_its_reserved_job) {
    conversation c = with_reserved("slurm-12");
    c.join("slurm-12.0", owner);
    c.join("slurm-12.4.pmix-1", owner);
    EXPECT_EQ(known(c), (std::vector<std::string>{"slurm-12.0", "slurm-12.4.pmix-1"}));
}

TEST(reservations, a_reservation_is_not_of_jobs_whose_number_begins_alike) {
    conversation c = with_reserved("slurm-12");
    c.join("slurm-123.0", other);
    c.join("slurm-1", other);
    EXPECT_EQ(known(c), (std::vector<std::string>{"slurm-123.0", "slurm-1"}));
}

TEST(reservations, whoever_registered_the_job_before_its_owner_is_turned_out) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.connect("slurmd", 0, true);
    begin_phases(c, other, owner);
    c.say("slurmd", reserve{"slurm-12", owner, 0, 0});
    EXPECT_TRUE(c.has_turn("waits"));
    EXPECT_EQ(known(c), std::vector<std::string>{"waits"});
    EXPECT_EQ(c.told.counted().refused_claims, 1U);
    c.join("slurm-12.0", owner);
    EXPECT_EQ(known(c).size(), 2U);
}

TEST(reservations, the_owners_application_stays_when_its_job_is_reserved_again) {
    conversation c = with_reserved("slurm-12");
    c.join("slurm-12.0", owner);
    c.say("slurmd", reserve{"slurm-12", owner, 8, 2});
    EXPECT_EQ(known(c), std::vector<std::string>{"slurm-12.0"});
}

TEST(reservations, a_job_that_ended_loses_its_turn_at_once) {
    conversation c = with_reserved("slurm-12");
    begin_phases(c, owner, other);
    c.say("slurmd", ended{"slurm-12"});
    EXPECT_TRUE(c.has_turn("waits"));
    EXPECT_EQ(known(c), std::vector<std::string>{"waits"});
    const std::vector<std::string> lines = c.look();
    ASSERT_GE(lines.size(), 4U);
    EXPECT_EQ(lines[2], "slurm-12.0 <- refused: job 'slurm-12.0' has ended, says the batch system");
    EXPECT_EQ(lines[1], "slurmd <- over");
    EXPECT_EQ(lines[3], "slurmd <- end");
    EXPECT_EQ(lines.back(), "slurm-12.0 closed");
    EXPECT_EQ(c.told.counted().ended_jobs, 1U);
}

TEST(reservations, all_nodes_of_a_job_that_ended_are_forgotten) {
    conversation c = with_reserved("slurm-12");
    for (const char* node : {"n1", "n2"}) {
        c.connect(node, owner);
        c.say(node, conversation::registration_of("slurm-12.0", node));
        c.say(node, phase_of(1));
    }
    c.break_off("n2");
    c.say("slurmd", ended{"slurm-12"});
    EXPECT_TRUE(known(c).empty());
    // Their user's places are free again, and time brings nothing more of them.
    c.join("slurm-13.0", owner);
    c.pass(10, {"slurm-13.0"});
    EXPECT_EQ(known(c), std::vector<std::string>{"slurm-13.0"});
    EXPECT_EQ(c.told.counted().lost_holders, 0U);
}

TEST(reservations, the_end_of_a_job_is_not_of_jobs_whose_number_begins_alike) {
    conversation c = with_reserved("slurm-12");
    c.join("slurm-12.0", owner);
    c.join("slurm-123.0", owner);
    c.say("slurmd", ended{"slurm-12"});
    EXPECT_EQ(known(c), std::vector<std::string>{"slurm-123.0"});
}

TEST(reservations, the_name_of_a_job_that_ended_is_free) {
    conversation c = with_reserved("slurm-12");
    c.say("slurmd", ended{"slurm-12"});
    c.join("slurm-12.0", other);
    EXPECT_EQ(known(c), std::vector<std::string>{"slurm-12.0"});
}

TEST(reservations, the_end_of_a_job_that_nobody_knows_is_answered_by_an_end_alone) {
    conversation c = with_reserved("slurm-12");
    c.say("slurmd", ended{"slurm-1"});
    EXPECT_EQ(c.look(), (std::vector<std::string>{"slurmd -> ended slurm-1", "slurmd <- end"}));
    c.say("slurmd", ended{"slurm-12"});
    EXPECT_EQ(c.look(), (std::vector<std::string>{"slurmd -> ended slurm-12", "slurmd <- over", "slurmd <- end"}));
}

TEST(reservations, whose_end_is_never_told_expire_when_their_jobs_have_no_applications) {
    settings how = conversation::quick(policy::rule::fcfs);
    how.reservation_s = 60;
    conversation c(how);
    c.connect("slurmd", 0, true);
    for (const char* job : {"slurm-12", "slurm-13"}) c.say("slurmd", reserve{job, owner, 0, 0});
    c.join("slurm-13.0", owner);
    const auto reserved = [&] {
        c.answers["slurmd"].clear();
        c.say("slurmd", top{});
        std::vector<std::string> jobs;
        for (const from_coordinator& one : c.answers["slurmd"])
            if (const auto* const held = std::get_if<reservation>(&one)) jobs.push_back(held->job);
        return jobs;
    };
    c.pass(59, {"slurm-13.0"});
    EXPECT_EQ(reserved(), (std::vector<std::string>{"slurm-12", "slurm-13"}));
    c.pass(2, {"slurm-13.0"});
    EXPECT_EQ(reserved(), std::vector<std::string>{"slurm-13"});
    EXPECT_EQ(c.told.counted().expired_reservations, 1U);
    c.say("slurm-13.0", withdraw{});
    c.pass(61);
    EXPECT_EQ(reserved(), std::vector<std::string>{});
}

TEST(reservations, only_administrators_reserve_and_end) {
    conversation c = with_reserved("slurm-12");
    c.join("slurm-12.0", owner);
    c.connect("X", other);
    c.say("X", ended{"slurm-12"});
    c.connect("Y", other);
    c.say("Y", reserve{"slurm-12", other, 0, 0});
    EXPECT_EQ(c.told.counted().refused_operators, 2U);
    EXPECT_EQ(known(c), std::vector<std::string>{"slurm-12.0"});
    c.join("slurm-12.1", other);
    EXPECT_EQ(c.told.counted().refused_claims, 1U);
}

TEST(reservations, a_job_is_no_larger_than_what_was_reserved) {
    conversation c = with_reserved("slurm-12", 64, 4);
    registration boast = conversation::registration_of("slurm-12.0");
    boast.processes = boast.nodes = 1'000'000;
    c.connect("A", owner);
    c.say("A", boast);
    EXPECT_EQ(c.of("slurm-12.0").processes, 64);
    EXPECT_EQ(c.of("slurm-12.0").nodes, 4);
}

TEST(reservations, administrators_see_what_is_reserved_and_since_when) {
    conversation c = with_reserved("slurm-12", 64, 4);
    c.pass(3);
    c.answers["slurmd"].clear();
    c.say("slurmd", top{});
    const std::vector<from_coordinator>& answer = c.answers["slurmd"];
    ASSERT_EQ(answer.size(), 3U);
    const auto& shown = std::get<reservation>(answer[1]);
    EXPECT_EQ(shown.job, "slurm-12");
    EXPECT_EQ(shown.user, owner);
    EXPECT_EQ(shown.processes, 64);
    EXPECT_EQ(shown.nodes, 4);
    EXPECT_NEAR(shown.since_s, 3, 0.01);
}

}  // namespace
}  // namespace halcyon::coordinate
