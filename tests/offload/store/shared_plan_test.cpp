#include "offload/store/shared_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "job_builder.hpp"

namespace halcyon::offload::testing {
namespace {

class shared_plan_of : public ::testing::Test {
  protected:
    shared_plan_of() {
        b_.add_variable("placed", scalar_type::float32).place_id = b_.add_place("whole");
        b_.add_variable("own", scalar_type::float32);
        b_.add_variable("line", scalar_type::float32).time_varying = false;
        static_cast<void>(b_.job("", {}));
    }

    /// A block of (2, columns) at column `at` of a whole of (2, 6), with a ghost layer around.
    void add(int server, int64_t iteration, int64_t at, int64_t columns) {
        shared_block block{0, server, 0, server, iteration, next_++, {}};
        block.shape.dimensions = {4, columns + 2};
        block.shape.global = {2, 6};
        block.shape.offset = {0, at};
        block.shape.ghost_before = block.shape.ghost_after = {1, 1};
        blocks_.push_back(block);
    }
    void add_own(uint32_t variable, int server, int64_t iteration, int64_t length) {
        shared_block block{variable, server, 0, server, iteration, next_++, {}};
        block.shape.dimensions = block.shape.global = {length};
        block.shape.offset = block.shape.ghost_before = block.shape.ghost_after = {0};
        blocks_.push_back(block);
    }
    shared_plan plan(const std::vector<int64_t>& iterations) {
        return plan_shared_file(b_.data(), iterations, blocks_);
    }

    job_builder b_;
    std::vector<shared_block> blocks_;
    int64_t next_ = 0;
};

TEST_F(shared_plan_of, placed_blocks_cover_the_whole_only_when_each_element_is_there_once) {
    add(0, 5, 0, 4);
    add(1, 5, 4, 2);
    EXPECT_TRUE(plan({5}).datasets.at(0).covered);
    EXPECT_EQ(plan({5}).datasets.at(0).shape.dimensions, (extents{2, 6}));
    EXPECT_FALSE(plan({5, 6}).datasets.at(0).covered) << "no block of iteration 6";
    blocks_.pop_back();
    EXPECT_FALSE(plan({5}).datasets.at(0).covered) << "a hole";
    add(1, 5, 3, 2);
    EXPECT_FALSE(plan({5}).datasets.at(0).covered) << "as many elements, but one column twice and one not";
}

TEST_F(shared_plan_of, unplaced_blocks_have_a_dataset_for_each_domain_and_shape) {
    add_own(1, 0, 5, 3);
    add_own(1, 0, 6, 3);
    add_own(1, 1, 5, 3);
    add_own(1, 1, 6, 9);
    add_own(2, 0, 6, 4);
    const shared_plan p = plan({5, 6});
    ASSERT_EQ(p.datasets.size(), 4U);
    EXPECT_TRUE(p.datasets[0].covered);
    EXPECT_EQ(p.datasets[1].domain, 1);
    EXPECT_EQ(p.datasets[1].rows, std::vector<int64_t>{0});
    EXPECT_FALSE(p.datasets[1].covered);
    EXPECT_EQ(p.datasets[2].variant, 1);
    EXPECT_EQ(p.datasets[2].rows, std::vector<int64_t>{1});
    EXPECT_EQ(p.datasets[3].row_count, 1) << "does not vary in time";
    EXPECT_TRUE(p.datasets[3].covered);
}

TEST_F(shared_plan_of, is_the_same_in_whatever_order_the_blocks_came) {
    for (int64_t i = 0; i < 4; ++i)
        for (int server = 0; server < 3; ++server) {
            add(server, i, 2 * server, 2);
            add_own(1, server, i, 2 + i % 2);
        }
    const shared_plan first = plan({0, 1, 2, 3});
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        std::shuffle(blocks_.begin(), blocks_.end(), random);
        const shared_plan p = plan({0, 1, 2, 3});
        ASSERT_EQ(p.datasets.size(), first.datasets.size());
        for (size_t d = 0; d < p.datasets.size(); ++d) {
            EXPECT_EQ(p.datasets[d].domain, first.datasets[d].domain);
            EXPECT_EQ(p.datasets[d].variant, first.datasets[d].variant);
            ASSERT_EQ(p.parts[d].size(), first.parts[d].size());
            for (size_t i = 0; i < p.parts[d].size(); ++i) {
                EXPECT_EQ(p.parts[d][i].index, first.parts[d][i].index);
                EXPECT_EQ(p.parts[d][i].row, first.parts[d][i].row);
            }
        }
    }
}

}  // namespace
}  // namespace halcyon::offload::testing
