// A program that stores for its job, and the page through which it takes the job's turns; the test is the agent.
#include "coordinate/storing/job_turn.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.hpp"
#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "temporary_folder.hpp"

namespace halcyon::tests {
namespace {

using namespace halcyon::coordinate;

constexpr int64_t hour_ns = 3'600'000'000'000;
constexpr int64_t file_bytes = 3 << 20, piece_bytes = 1 << 20;

/// Until `holds()`; a failure when that takes too long.
template <class Condition>
void wait_until(Condition holds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
        ASSERT_LT(std::chrono::steady_clock::now(), until) << "it never came to that";
        std::this_thread::yield();
    }
}

class job_turn_test : public testing::Test {
  protected:
    explicit job_turn_test(double starvation_s = 30)
        : page_(agent_page::create({.mounts = {"/scratch", "/scratch/burst"}, .starvation_s = starvation_s}).value()),
          slot_(*claim_slot(page_.shared(), process_slot::owner_of(::getpid(), 1))),
          turns_(page_.shared(), slot_, facts_.path().string()) {
        beat();
        page_.publish(0, permission::waiting, 0, {});
        page_.publish(1, permission::waiting, 0, {});
    }
    void beat(int64_t for_ns = hour_ns) {
        page_.beat(monotonic_ns() + for_ns);
        for (size_t i = 0; i < page_.file_systems(); ++i) page_.heard(i, monotonic_ns() + for_ns);
    }
    void allow(size_t at = 0) { page_.publish(at, permission::allowed, 0, int64_t{1} << 40U); }
    void call_back() {
        page_.publish(0, permission::hold, 0, {});
        page_.publish(0, permission::stop, 1, {});
    }
    [[nodiscard]] node_state state(size_t at = 0) const { return page_.observe(at, 0, monotonic_ns()); }
    /// A thread stores a file of three pieces; `pieces_` says how many it has been allowed to begin.
    std::thread store() {
        return std::thread([this] {
            const auto storing = turns_.begin("/scratch/out", file_bytes);
            for (int i = 0; i < 3; ++i) {
                storing->next(piece_bytes);
                ++pieces_;
                wait_until([this] { return pieces_.load() <= goes_to_.load(); });
            }
            unasked_ = storing->unasked_bytes();
            waited_ns_ = storing->waited_ns();
        });
    }

    /// What the facts say of it, all file systems together; 0: there are none.
    [[nodiscard]] int64_t told(const std::string& what) const {
        int64_t sum = 0;
        for (const auto& entry : std::filesystem::directory_iterator(facts_.path())) {
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);)
                if (line.starts_with(what + " ")) sum += std::atoll(line.c_str() + what.size());
        }
        return sum;
    }

    temporary_folder facts_;
    agent_page page_;
    process_slot& slot_;
    job_turn turns_;
    std::atomic<int> pieces_{0};
    std::atomic<int> goes_to_{3};  ///< the thread stops in its piece behind this many
    int64_t unasked_ = -1, waited_ns_ = -1;
};

TEST_F(job_turn_test, waits_before_the_first_piece_and_announces_the_bytes_of_the_file) {
    std::thread thread = store();
    wait_until([this] { return state().waiting == 1; });
    EXPECT_EQ(pieces_, 0);
    EXPECT_EQ(state().bytes_left, file_bytes);
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(state().begun, 1U);
    allow();
    thread.join();
    EXPECT_EQ(pieces_, 3);
    EXPECT_EQ(unasked_, 0);
    EXPECT_GT(waited_ns_, 0);
    EXPECT_EQ(state().moved, file_bytes);
    EXPECT_EQ(state().bytes_left, 0);
    EXPECT_EQ(state().under_way, 0);
    EXPECT_TRUE(turns_.take_remarks().empty());
}

TEST_F(job_turn_test, gives_back_between_two_pieces_and_asks_again) {
    allow();
    goes_to_ = 0;
    std::thread thread = store();
    wait_until([this] { return pieces_ == 1; });
    EXPECT_EQ(state().under_way, 1) << "the turn is kept from piece to piece";
    call_back();
    EXPECT_EQ(state().under_way, 1) << "the piece comes to its end";
    goes_to_ = 1;
    wait_until([this] { return state().waiting == 1; });
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(pieces_, 1);
    EXPECT_EQ(state().moved, piece_bytes);
    EXPECT_EQ(state().bytes_left, file_bytes - piece_bytes);
    goes_to_ = 3;
    allow();
    thread.join();
    EXPECT_EQ(pieces_, 3);
    EXPECT_EQ(unasked_, 0);
    EXPECT_EQ(state().moved, file_bytes);
}

TEST_F(job_turn_test, waits_for_more_bytes_when_its_lease_is_used_up) {
    page_.publish(0, permission::allowed, 0, piece_bytes / 2);
    std::thread thread = store();
    wait_until([this] { return state().waiting == 1; });
    EXPECT_EQ(pieces_, 1) << "the piece that used up the lease went on";
    allow();
    thread.join();
    EXPECT_EQ(unasked_, 0);
}

TEST_F(job_turn_test, stores_without_turns_while_nobody_answers_and_says_so_once) {
    beat(-page_.shared().patience_ns - 1);
    for (int file = 0; file < 2; ++file) {
        pieces_ = 0;
        store().join();
        EXPECT_EQ(unasked_, file_bytes);
    }
    EXPECT_EQ(state().unasked, 2 * file_bytes);
    const auto said = turns_.take_remarks();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0],
              "the coordinator of /scratch does not answer: until it does, files are stored without their turn");
    beat();
    allow();
    pieces_ = 0;
    store().join();
    EXPECT_EQ(unasked_, 0);
    const auto then = turns_.take_remarks();
    ASSERT_EQ(then.size(), 1U);
    EXPECT_EQ(then[0], "the coordinator of /scratch answers again: files are stored in turn");
}

TEST_F(job_turn_test, goes_on_while_a_process_of_the_job_holds_a_file_lock) {
    process_slot* const other = claim_slot(page_.shared(), process_slot::owner_of(::getpid(), 2));
    other->locks = 1;
    store().join();
    EXPECT_EQ(unasked_, file_bytes);
    const auto said = turns_.take_remarks();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("held a file lock"), std::string::npos) << said[0];
}

TEST_F(job_turn_test, uses_the_turn_of_the_innermost_file_system) {
    allow(1);
    turns_.begin("/scratch/burst/out", piece_bytes)->next(piece_bytes);
    EXPECT_EQ(state(1).moved, piece_bytes);
    EXPECT_EQ(state(0).moved, 0);
}

TEST_F(job_turn_test, stores_where_no_coordinator_is_and_says_so_once) {
    for (int file = 0; file < 2; ++file) {
        const auto storing = turns_.begin("/scratchy", piece_bytes);
        storing->next(piece_bytes);
        EXPECT_EQ(storing->unasked_bytes(), piece_bytes);
    }
    const auto said = turns_.take_remarks();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("/scratchy"), std::string::npos) << said[0];
    EXPECT_NE(said[0].find("/scratch, /scratch/burst"), std::string::npos) << said[0];
}

TEST_F(job_turn_test, tells_the_facts_after_each_file_and_leaves_those_of_a_file_under_way_to_the_agent) {
    EXPECT_EQ(page_.untold(), 0U) << "nothing was stored";
    allow();
    goes_to_ = 0;
    std::thread thread = store();
    wait_until([this] { return pieces_ == 1; });
    EXPECT_EQ(page_.untold(), 1U);
    EXPECT_EQ(told("bytes"), 0);
    goes_to_ = 3;
    thread.join();
    EXPECT_EQ(page_.untold(), 0U);
    EXPECT_EQ(told("bytes"), file_bytes);
    EXPECT_EQ(told("phases"), 1);
    beat(-page_.shared().patience_ns - 1);
    page_.publish(0, permission::waiting, 0, {});
    pieces_ = 0;
    store().join();
    EXPECT_EQ(told("bytes"), file_bytes);
    EXPECT_EQ(told("bytes_unasked"), file_bytes);
}

class impatient_job_turn_test : public job_turn_test {
  protected:
    impatient_job_turn_test() : job_turn_test(0.05) {}
};

TEST_F(impatient_job_turn_test, waits_for_a_whole_file_no_longer_than_the_starvation_limit) {
    store().join();
    EXPECT_EQ(unasked_, file_bytes);
    EXPECT_GE(waited_ns_, page_.shared().file_system[0].starvation_ns);
    const auto said = turns_.take_remarks();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0], "a file waited for its turn at /scratch for as long as any may, and was stored without it");
}

}  // namespace
}  // namespace halcyon::tests
