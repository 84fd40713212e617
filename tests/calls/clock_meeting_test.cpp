// Processes of an MPI job agree through files on who compares clocks; here each is a thread.
#include "calls/clocks/clock_meeting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.hpp"

namespace halcyon::calls {
namespace {

/// Nobody may wait so long: a test that does ends by ctest's limit.
constexpr int64_t for_ever_ns = 1'000'000'000'000'000;

struct attendant {
    int rank;
    std::string clock;
    int ranks;  ///< of the world that this one is in
    int64_t patience_ns = for_ever_ns;
};

using agreed = std::vector<int>;

/// What each of them is told. All announce themselves before anybody's MPI has started.
std::vector<agreed> meet(const std::filesystem::path& folder, const std::vector<attendant>& all) {
    std::vector<std::unique_ptr<clock_meeting>> meetings;
    for (const attendant& one : all) {
        meetings.push_back(std::make_unique<clock_meeting>());
        meetings.back()->announce(folder.string(), one.clock, one.rank);
    }
    std::vector<agreed> told(all.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < all.size(); ++i) {
        threads.emplace_back([&, i] {
            const auto list = meetings[i]->agree(all[i].rank, all[i].ranks, all[i].patience_ns);
            told[i].assign(list.begin(), list.end());
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& meeting : meetings) meeting->end();
    return told;
}

class clock_meeting_test : public testing::Test {
  protected:
    std::vector<agreed> meet(const std::vector<attendant>& all) {
        auto told = calls::meet(folder_, all);
        EXPECT_FALSE(std::filesystem::exists(folder_)) << "files were left";
        for (agreed& list : told) std::sort(list.begin(), list.end());
        return told;
    }

  private:
    tests::temporary_folder outer_;
    std::filesystem::path folder_ = outer_.path() / "launch";
};

TEST_F(clock_meeting_test, one_process_of_each_clock_takes_part) {
    const agreed all{0, 1, 4};
    EXPECT_EQ(meet({{0, "a", 6}, {1, "b", 6}, {4, "c/time", 6}, {5, "c/time", 6}, {2, "a", 6}}),
              (std::vector<agreed>{all, all, all, {}, {}}));
}

TEST_F(clock_meeting_test, nobody_waits_for_a_rank_without_a_recorder) {
    EXPECT_EQ(meet({{0, "a", 3}, {2, "c", 3}}), (std::vector<agreed>{{0, 2}, {0, 2}}));
    EXPECT_EQ(meet({{0, "a", 3}}), (std::vector<agreed>{{}}));
}

TEST_F(clock_meeting_test, nobody_waits_for_rank_0_without_a_recorder) {
    EXPECT_EQ(meet({{1, "a", 3}, {2, "b", 3}}), (std::vector<agreed>{{}, {}}));
}

TEST_F(clock_meeting_test, a_process_of_another_world_is_left_out) {
    EXPECT_EQ(meet({{0, "a", 3}, {1, "b", 3}, {2, "c", 1}}), (std::vector<agreed>{{0, 1}, {0, 1}, {}}));
    EXPECT_EQ(meet({{0, "a", 1}, {1, "b", 1}}), (std::vector<agreed>{{}, {}}));
}

TEST_F(clock_meeting_test, all_come_or_nobody_however_little_patience_they_have) {
    std::mt19937 random(30211);
    std::uniform_int_distribution<int64_t> patience_ns(0, 4'000'000);
    int met = 0;
    int given_up = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<attendant> all{{0, "a", 4, 2'000'000}, {1, "b", 4}, {2, "c", 4}, {3, "d", 4}};
        for (int rank = 1; rank < 4; ++rank) all[static_cast<size_t>(rank)].patience_ns = patience_ns(random);
        const auto told = meet(all);
        const agreed& list = *std::max_element(told.begin(), told.end());
        for (int rank = 0; rank < 4; ++rank) {
            const bool listed = std::find(list.begin(), list.end(), rank) != list.end();
            ASSERT_EQ(told[static_cast<size_t>(rank)], listed ? list : agreed{}) << "round " << round;
        }
        ++(list.empty() ? given_up : met);
    }
    EXPECT_GT(met, 0);
    EXPECT_GT(given_up, 0);
}

}  // namespace
}  // namespace halcyon::calls
