// What a coordinator infers of writers without Halcyon, from windows as agents tell them of long calls.
#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>

#include "coordinate/agent/turn_agents.hpp"
#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t mib = int64_t{1} << 20U;

/// A node of a job: four writers, each of which has one call of 1 MiB under way for 0.1 to 0.35 s.
class writing_node {
  public:
    writing_node(const std::string& job, const std::string& node, double now_s)
        : agent_({.job = conversation::registration_of(job, node)}, now_s) {
        state_.processes = writers;
    }
    void connect(coordinator& to, connection_id by, double now_s) {
        connection = by;
        to.connected(by, 1000, false, now_s);
        agent_.connected(now_s);
    }
    /// Each writer has so many calls before it.
    void begin_phase(int calls) {
        calls_left_.fill(calls);
        ++state_.begun;
    }
    [[nodiscard]] bool writes() const { return *std::ranges::max_element(calls_left_) > 0 || state_.under_way > 0; }
    void hear(const from_coordinator& message, double now_s) { agent_.received(message, now_s); }

    /// `slower`: than alone.
    void step(coordinator& to, std::mt19937& random, double slower, double now_s) {
        for (double& ends_s : ends_s_)
            if (ends_s > 0 && ends_s <= now_s) ends_s = 0;
        begin_calls(random, slower, now_s);
        for (bool again = true; again;) {
            agent_.observed(state_);
            const agent_effects& todo = agent_.advance(now_s);
            if (todo.page) {
                shown_ = todo.page->to;
                if (todo.page->bytes) state_.pool = *todo.page->bytes;
            }
            for (const to_coordinator& message : todo.messages) to.received(connection, message, now_s);
            again = todo.look_again;
            if (todo.clean_caches) agent_.caches_clean();
            begin_calls(random, slower, now_s);
        }
    }

    connection_id connection = 0;

  private:
    static constexpr size_t writers = 4;

    void begin_calls(std::mt19937& random, double slower, double now_s) {
        std::uniform_real_distribution<> takes_s(0.1, 0.35);
        const bool may = shown_ == permission::allowed || shown_ == permission::standing;
        for (size_t i = 0; i < writers; ++i) {
            if (ends_s_[i] > 0 || calls_left_[i] == 0 || !may || state_.pool <= 0) continue;
            ends_s_[i] = now_s + takes_s(random) * slower;
            --calls_left_[i];
            state_.pool -= mib;
            state_.moved += mib;
        }
        state_.under_way = std::ranges::count_if(ends_s_, [](double ends_s) { return ends_s > 0; });
        state_.waiting = 0;
        for (size_t i = 0; i < writers; ++i) state_.waiting += ends_s_[i] == 0 && calls_left_[i] > 0 ? 1 : 0;
        state_.active = state_.under_way + state_.waiting;
    }

    turn_agent agent_;
    node_state state_;
    permission shown_ = permission::closed;
    std::array<int, writers> calls_left_{};
    std::array<double, writers> ends_s_{};  ///< of the call under way; 0: none
};

/// A storage that serves everybody as fast as anybody wants, except for writers without Halcyon.
class storage_bed {
  public:
    explicit storage_bed(unsigned seed) : random_(seed), daemon_(conversation::quick(policy::rule::interrupt), 1, 0) {}

    using job = std::vector<std::unique_ptr<writing_node>>;
    job join(const std::string& name, int nodes) {
        job made;
        for (int i = 0; i < nodes; ++i) {
            made.push_back(std::make_unique<writing_node>(name, name + std::to_string(i), now_s));
            made.back()->connect(daemon_, ++last_, now_s);
            all_.push_back(made.back().get());
        }
        return made;
    }
    static void begin_phase(const job& of, int calls) {
        for (const auto& one : of) one->begin_phase(calls);
    }
    void pass(double seconds) {
        for (const double until_s = now_s + seconds; now_s < until_s;) step();
    }
    void pass_until_done(const job& of) {
        const double limit_s = now_s + 100;
        while (std::ranges::any_of(of, [](const auto& one) { return one->writes(); })) {
            step();
            ASSERT_LT(now_s, limit_s);
        }
    }
    [[nodiscard]] double unseen_share() const { return daemon_.state().unseen_share; }
    [[nodiscard]] const counts& counted() const { return daemon_.counted(); }

    double now_s = 0;
    double taken = 0;       ///< by writers without Halcyon
    double most_share = 0;  ///< that was inferred, ever

  private:
    void step() {
        now_s += 0.001;
        for (writing_node* const one : all_) one->step(daemon_, random_, 1 / (1 - taken), now_s);
        const effects& todo = daemon_.advance(now_s);
        for (const effects::outgoing& message : todo.messages)
            for (writing_node* const one : all_)
                if (one->connection == message.to) one->hear(message.message, now_s);
        most_share = std::max(most_share, unseen_share());
    }

    std::mt19937 random_;
    coordinator daemon_;
    connection_id last_ = 0;
    std::vector<writing_node*> all_;
};

TEST(unseen_writers, are_not_there_beside_one_application) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        storage_bed bed(seed);
        const auto a = bed.join("A", 4);
        storage_bed::begin_phase(a, 300);
        bed.pass(60);
        EXPECT_LE(bed.most_share, 0.03) << "seed " << seed;
    }
}

TEST(unseen_writers, are_not_there_beside_two_that_take_turns) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        for (const double alone_s : {0.7, 3.0}) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", A alone for " << alone_s << " s");
            storage_bed bed(seed);
            const auto a = bed.join("A", 4);
            const auto b = bed.join("B", 1);
            storage_bed::begin_phase(a, 1000);
            for (int i = 0; i < 12; ++i) {
                bed.pass(alone_s);
                storage_bed::begin_phase(b, 4);
                bed.pass_until_done(b);
            }
            EXPECT_GE(bed.counted().recalls, 12U);
            EXPECT_LE(bed.most_share, 0.03);
        }
    }
}

TEST(unseen_writers, are_not_there_beside_one_whose_phases_are_short) {
    for (const int calls : {1, 2, 5}) {
        SCOPED_TRACE(testing::Message() << calls << " calls");
        storage_bed bed(1);
        const auto a = bed.join("A", 4);
        for (int i = 0; i < 40; ++i) {
            storage_bed::begin_phase(a, calls);
            bed.pass_until_done(a);
            bed.pass(0.1);
        }
        EXPECT_LE(bed.most_share, 0.03);
    }
}

TEST(unseen_writers, are_found_within_a_fifth_of_their_share) {
    for (const double share : {0.4, 0.6, 0.8}) {
        for (const int nodes : {1, 4}) {
            SCOPED_TRACE(testing::Message() << share << " taken, " << nodes << " nodes");
            storage_bed bed(1);
            const auto a = bed.join("A", nodes);
            storage_bed::begin_phase(a, 100'000);
            bed.pass(60);
            bed.taken = share;
            bed.pass(240 / nodes / (1 - share));
            EXPECT_NEAR(bed.unseen_share(), share, 0.2 * share);
            bed.taken = 0;
            bed.pass(400 / nodes);
            EXPECT_LE(bed.unseen_share(), 0.03) << "it is gone";
        }
    }
}

TEST(unseen_writers, are_found_by_one_of_two_that_take_turns) {
    for (const double share : {0.4, 0.75}) {
        storage_bed bed(1);
        const auto a = bed.join("A", 4);
        const auto b = bed.join("B", 1);
        storage_bed::begin_phase(a, 1000);
        for (int i = 0; i < 32; ++i) {
            bed.taken = i < 8 ? 0 : share;
            bed.pass(3 / (1 - bed.taken));
            storage_bed::begin_phase(b, 4);
            bed.pass_until_done(b);
        }
        EXPECT_NEAR(bed.unseen_share(), share, 0.2 * share);
    }
}

}  // namespace
}  // namespace halcyon::coordinate
