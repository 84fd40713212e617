#include "offload/server/records_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace halcyon::offload {
namespace {

/// Records that go to a pool whose only thread is busy until it is let go.
class records_of_a_busy_server : public ::testing::Test {
  protected:
    records_of_a_busy_server() {
        pool_.submit([gate = gate_.get_future().share()] { gate.wait(); });
    }
    ~records_of_a_busy_server() override {
        if (!gone_) let_go();
    }
    void let_go() {
        gone_ = true;
        gate_.set_value();
        std::promise<void> behind;
        // Jobs of one thread come one after the other.
        pool_.submit([&behind] { behind.set_value(); });
        behind.get_future().wait();
    }
    std::vector<std::string> lines(const std::string& name) const {
        std::ifstream file(folder_.file(name));
        std::vector<std::string> list;
        for (std::string line; std::getline(file, line);) list.push_back(line);
        return list;
    }
    static phase_record phase_of(int64_t iteration) { return {iteration, 0, 1, 2, 3, 4, 5}; }
    run_counts saved() { return records_.saved_counts(); }

    halcyon::tests::temporary_folder folder_;
    std::promise<void> gate_;
    bool gone_ = false;
    std::vector<bool> said_;
    worker_pool pool_{1};
    records_writer records_{run_records::open(folder_.path().string(), "n0000", "").value(), pool_,
                            [this](const result<void>& saved) { said_.push_back(saved.ok()); }};
};

TEST_F(records_of_a_busy_server, wait_for_a_thread_and_not_the_other_way_round) {
    for (int64_t i = 0; i < 100; ++i) records_.add(phase_of(i));
    run_counts counts;
    for (counts.iterations = 1; counts.iterations <= 3; ++counts.iterations) records_.save(counts);
    EXPECT_EQ(lines("phases-n0000.csv").size(), 1U) << "the header alone";
    let_go();
    const auto written = lines("phases-n0000.csv");
    ASSERT_EQ(written.size(), 101U);
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ(written[i + 1], std::to_string(i) + ",0,1,2,3,4,5");
    EXPECT_EQ(saved().iterations, 3) << "the newest";
    EXPECT_TRUE(said_.empty()) << "nothing was wrong";
}

TEST_F(records_of_a_busy_server, beyond_the_bound_are_counted) {
    for (size_t i = 0; i < records_writer::most_lines + 7; ++i) records_.add(phase_of(1));
    let_go();
    EXPECT_EQ(lines("phases-n0000.csv").size(), records_writer::most_lines + 1);
    EXPECT_EQ(records_.lost_lines(), 7);
    EXPECT_TRUE(records_.save_now({}).ok());
    EXPECT_EQ(saved().lost_records, 7);
}

TEST_F(records_of_a_busy_server, are_all_there_after_the_last_save) {
    records_.add(phase_of(1));
    records_.add(file_record{});
    run_counts counts;
    counts.iterations = 4;
    ASSERT_TRUE(records_.save_now(counts).ok());
    EXPECT_EQ(records_.phase_lines(), 1);
    EXPECT_EQ(lines("server-n0000.csv").size(), 2U);
    EXPECT_EQ(saved().iterations, 4);
    let_go();
    EXPECT_EQ(saved().iterations, 4) << "nothing older comes later";
}

TEST_F(records_of_a_busy_server, that_cannot_be_saved_are_said_once_and_when_they_can) {
    std::filesystem::create_directory(folder_.file("kept"));
    std::filesystem::rename(folder_.file(".counts-n0000.json.room"), folder_.file("kept/tmp"));
    std::filesystem::create_directory(folder_.file(".counts-n0000.json.room"));
    let_go();
    const auto save = [this] {
        records_.save({});
        std::promise<void> behind;
        pool_.submit([&behind] { behind.set_value(); });
        behind.get_future().wait();
    };
    save();
    save();
    EXPECT_EQ(said_, (std::vector<bool>{false}));
    EXPECT_TRUE(records_.unsaved());
    std::filesystem::remove(folder_.file(".counts-n0000.json.room"));
    save();
    EXPECT_EQ(said_, (std::vector<bool>{false, true}));
}

TEST_F(records_of_a_busy_server, count_the_lines_of_the_server_before) {
    records_.add(phase_of(1));
    records_.add(phase_of(2));
    ASSERT_TRUE(records_.save_now({}).ok());
    std::ofstream(folder_.file("phases-n0000.csv"), std::ios::app) << "3,0,1";
    const auto next = run_records::open(folder_.path().string(), "n0000", "").value();
    EXPECT_EQ(next.phase_lines(), 2) << "half a line is none";
    let_go();
}

}  // namespace
}  // namespace halcyon::offload
