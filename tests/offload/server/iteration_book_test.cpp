#include "offload/server/iteration_book.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

/// Two clients, ranks 4 and 7; variable 0 varies, variable 1 does not.
class book : public ::testing::Test {
  protected:
    book() {
        data_.variables.resize(2);
        data_.variables[1].time_varying = false;
    }
    static checked_block block_of(uint32_t client, uint32_t index, int64_t iteration, uint32_t variable = 0,
                                  uint64_t sequence = 1) {
        checked_block b;
        b.client = client;
        b.index = index;
        b.variable = variable;
        b.iteration = iteration;
        b.sequence = sequence;
        return b;
    }

  private:
    model data_;

  protected:
    iteration_book b{data_, {4, 7}};
};

TEST_F(book, an_iteration_is_complete_when_all_live_clients_ended_it) {
    b.client_ended(0, 0);
    b.client_ended(0, 1);
    EXPECT_EQ(b.take_complete(), std::nullopt);
    b.client_ended(1, 0);
    EXPECT_EQ(b.take_complete(), 0);
    EXPECT_EQ(b.take_complete(), std::nullopt) << "client 1 did not end iteration 1";
    b.client_left(1, iteration_book::leaving::closed);
    EXPECT_EQ(b.take_complete(), 1);
    EXPECT_FALSE(b.at(1).incomplete) << "a client that closed in order owes nothing";
}

TEST_F(book, a_block_told_twice_is_held_once_and_handed_by_the_second) {
    ASSERT_NE(b.adopt(block_of(0, 3, 0), false), nullptr);
    EXPECT_EQ(b.adopt(block_of(0, 3, 0), true), nullptr);
    EXPECT_TRUE(b.find(iteration_book::key_of(0, 3))->handed);
    EXPECT_EQ(b.at(0).blocks.size(), 1U);
    EXPECT_NE(b.adopt(block_of(0, 3, 1, 0, 2), false), nullptr) << "the same entry holds another block now";
}

TEST_F(book, what_a_dead_client_owes_is_missing_once) {
    for (const uint32_t client : {0U, 1U}) {
        b.adopt(block_of(client, 0, 0), true);
        b.adopt(block_of(client, 1, 0, 1), true);
        b.client_ended(client, 0);
    }
    b.adopt(block_of(0, 2, 1), true);
    b.client_ended(0, 1);
    b.client_left(1, iteration_book::leaving::died);
    ASSERT_EQ(b.take_complete(), 0);
    EXPECT_FALSE(b.at(0).incomplete);
    EXPECT_TRUE(b.at(0).missing.empty());
    ASSERT_EQ(b.take_complete(), 1);
    EXPECT_TRUE(b.at(1).incomplete);
    ASSERT_EQ(b.at(1).missing.size(), 1U) << "the variable that does not vary is not expected again";
    EXPECT_EQ(b.at(1).missing[0].variable_id, 0U);
    EXPECT_EQ(b.at(1).missing[0].rank, 7);
    EXPECT_EQ(b.at(1).missing[0].reason, missing_block::why::client_died);
}

/// One rank ends one iteration more than the others: readers find fill, and must find out why.
TEST_F(book, what_a_client_that_closed_did_not_write_of_a_later_iteration_is_missing) {
    for (const uint32_t client : {0U, 1U}) {
        b.adopt(block_of(client, 0, 0), true);
        b.client_ended(client, 0);
    }
    b.adopt(block_of(0, 2, 1), true);
    b.client_ended(0, 1);
    b.client_left(1, iteration_book::leaving::closed);
    ASSERT_EQ(b.take_complete(), 0);
    EXPECT_FALSE(b.at(0).incomplete);
    ASSERT_EQ(b.take_complete(), 1);
    EXPECT_TRUE(b.at(1).incomplete);
    ASSERT_EQ(b.at(1).missing.size(), 1U);
    EXPECT_EQ(b.at(1).missing[0].rank, 7);
    EXPECT_EQ(b.at(1).missing[0].reason, missing_block::why::not_written);
    EXPECT_EQ(b.at(1).closed_before, std::set<uint32_t>{1});
}

TEST_F(book, a_client_that_closed_owes_nothing_of_variables_that_nobody_wrote_again) {
    b.adopt(block_of(1, 0, 0), true);
    for (const uint32_t client : {0U, 1U}) b.client_ended(client, 0);
    b.adopt(block_of(0, 2, 1, 1), true);  // another variable
    b.client_ended(0, 1);
    b.client_left(1, iteration_book::leaving::closed);
    ASSERT_EQ(b.take_complete(), 0);
    ASSERT_EQ(b.take_complete(), 1);
    EXPECT_FALSE(b.at(1).incomplete);
    EXPECT_TRUE(b.at(1).missing.empty());
}

TEST_F(book, an_iteration_that_nobody_ended_is_owed_by_nobody_that_closed) {
    for (const uint32_t client : {0U, 1U}) {
        b.adopt(block_of(client, 0, 0), true);
        b.client_ended(client, 0);
    }
    b.adopt(block_of(0, 2, 1), true);
    for (const uint32_t client : {0U, 1U}) b.client_left(client, iteration_book::leaving::closed);
    ASSERT_EQ(b.take_complete(), 0);
    ASSERT_EQ(b.take_complete(), 1);
    EXPECT_TRUE(b.at(1).missing.empty());
}

TEST_F(book, a_block_that_a_dead_client_still_wrote_is_not_missing) {
    b.adopt(block_of(0, 0, 0), true);
    b.client_ended(0, 0);
    b.adopt(block_of(1, 0, 0), true);
    b.client_left(1, iteration_book::leaving::died);
    ASSERT_EQ(b.take_complete(), 0);
    EXPECT_TRUE(b.at(0).incomplete);
    EXPECT_TRUE(b.at(0).missing.empty());
}

TEST_F(book, when_nobody_is_left_what_has_begun_becomes_complete_and_no_more) {
    b.client_ended(0, 0);
    b.adopt(block_of(0, 0, 1), true);
    b.client_left(0, iteration_book::leaving::died);
    b.client_left(1, iteration_book::leaving::died);
    EXPECT_EQ(b.take_complete(), 0);
    EXPECT_EQ(b.open_iterations(), std::vector<int64_t>{1});
    EXPECT_EQ(b.take_complete(), 1);
    EXPECT_EQ(b.take_complete(), std::nullopt);
    EXPECT_TRUE(b.open_iterations().empty());
}

TEST_F(book, an_iteration_is_through_when_each_store_is) {
    b.adopt(block_of(0, 0, 0), true);
    b.begin_storing(0, 17, 2);
    EXPECT_EQ(b.at(0).complete_ns, 17);
    EXPECT_FALSE(b.store_is_through(0));
    EXPECT_TRUE(b.store_is_through(0));
}

TEST_F(book, a_block_that_could_not_be_written_is_missing_once) {
    b.adopt(block_of(0, 0, 0), true);
    b.adopt(block_of(1, 0, 0), true);
    b.note_unwritten(iteration_book::key_of(0, 0), true);
    EXPECT_EQ(b.at(0).unwritten, 1);
    ASSERT_EQ(b.at(0).missing.size(), 1U) << "the file of the iteration says so";
    EXPECT_EQ(b.at(0).missing[0].reason, missing_block::why::not_written);
    b.note_unwritten(iteration_book::key_of(1, 0), false);
    EXPECT_EQ(b.at(0).unwritten, 2);
    EXPECT_EQ(b.at(0).missing.size(), 1U) << "there is no such file";
    EXPECT_EQ(b.at(0).given_up, 1);
}

}  // namespace
}  // namespace halcyon::offload
