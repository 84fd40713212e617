// What holds for every implementation of turn (base/turn.hpp), whoever gives the turns.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/turn.hpp"
#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "coordinate/storing/job_turn.hpp"
#include "offload/server/transfer_slots.hpp"

namespace halcyon {
namespace {

constexpr int64_t some_bytes = 1 << 20;

struct without_turns {
    std::unique_ptr<turn> made = std::make_unique<no_turns>();
    bool takes_turns = true;  ///< there are none to be missed
};

struct in_slots {
    std::unique_ptr<turn> made = std::make_unique<offload::transfer_slots>(1, 3);
    bool takes_turns = true;
};

struct not_possible {
    std::unique_ptr<turn> made = std::make_unique<turns_not_taken>("no coordinator is known");
    bool takes_turns = false;
};

/// A job that has the turn, whose agent is alive for an hour.
struct of_a_job {
    coordinate::agent_page page = coordinate::agent_page::create({.mounts = {"/scratch"}}).value();
    std::unique_ptr<turn> made = std::make_unique<coordinate::job_turn>(
        page.shared(), *coordinate::claim_slot(page.shared(), coordinate::process_slot::owner_of(::getpid(), 1)), "");
    bool takes_turns = true;

    of_a_job() {
        constexpr int64_t hour_ns = 3'600'000'000'000;
        page.beat(monotonic_ns() + hour_ns);
        page.heard(0, monotonic_ns() + hour_ns);
        page.publish(0, coordinate::permission::allowed, 0, int64_t{1} << 40U);
    }
};

template <class Given>
class every_turn : public testing::Test {
  protected:
    turn& turns() { return *given_.made; }
    std::unique_ptr<turn::stay> begin(int64_t bytes = some_bytes) { return turns().begin("/scratch/out", bytes); }

    Given given_;
};
using implementations = testing::Types<without_turns, in_slots, not_possible, of_a_job>;
TYPED_TEST_SUITE(every_turn, implementations);

TYPED_TEST(every_turn, delays_nothing_before_an_iteration_was_measured) {
    EXPECT_EQ(this->turns().delay_ns(0), 0);
    EXPECT_GE(this->turns().delay_ns(3'000), 0);
    EXPECT_LT(this->turns().delay_ns(3'000), 3'000) << "the next iteration comes";
}

TYPED_TEST(every_turn, lets_a_file_go_on_piece_by_piece_and_counts_what_had_no_turn) {
    const auto storing = this->begin();
    int64_t stored = 0;
    for (const int64_t piece : {some_bytes / 2, some_bytes / 4, some_bytes / 4}) {
        storing->next(piece);
        stored += piece;
    }
    EXPECT_EQ(storing->unasked_bytes(), this->given_.takes_turns ? 0 : stored);
    EXPECT_GE(storing->waited_ns(), 0);
}

TYPED_TEST(every_turn, takes_fewer_or_more_bytes_than_were_announced) {
    for (const int64_t piece : {int64_t{0}, some_bytes / 2, 2 * some_bytes}) {
        const auto storing = this->begin();
        storing->next(piece);
        EXPECT_EQ(storing->unasked_bytes(), this->given_.takes_turns ? 0 : piece);
    }
}

TYPED_TEST(every_turn, is_given_back_with_the_file_that_has_no_piece) {
    { const auto storing = this->begin(); }
    const auto again = this->begin();
    again->next(some_bytes);
    EXPECT_EQ(again->unasked_bytes(), this->given_.takes_turns ? 0 : some_bytes);
}

TYPED_TEST(every_turn, is_one_for_all_threads_of_a_server) {
    const auto first = this->begin();
    first->next(some_bytes);
    // A second thread does not wait until the first one is done.
    std::thread([this] {
        const auto second = this->begin();
        second->next(some_bytes);
    }).join();
    first->next(some_bytes);
}

TYPED_TEST(every_turn, says_once_what_goes_otherwise_than_meant) {
    for (int file = 0; file < 2; ++file) this->begin()->next(some_bytes);
    EXPECT_EQ(this->turns().take_remarks().empty(), this->given_.takes_turns);
    EXPECT_TRUE(this->turns().take_remarks().empty());
    this->begin()->next(some_bytes);
    EXPECT_TRUE(this->turns().take_remarks().empty());
}

}  // namespace
}  // namespace halcyon
