#include "offload/server/file_sharing.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "offload/server/view_refresh.hpp"
#include "parts_of_a_server.hpp"

namespace halcyon::offload {
namespace {

using numbers = std::vector<int64_t>;

/// The other servers of the world: the test says what becomes of an offer.
class other_servers final : public shared_files {
  public:
    void serve(std::function<void(uint32_t, int64_t)> wanted) override { wanted_ = std::move(wanted); }
    void want(uint32_t, int64_t iteration) override { asked_.push_back(iteration); }
    void offer(shared_offer what) override { offers_.push_back(std::move(what)); }
    bool withdraw(uint32_t) override { return !late_; }
    void leave() override {}

    void wait_for(int64_t iteration) const { wanted_(0, iteration); }
    void have_begun() { late_ = true; }
    /// Iterations of the offers so far.
    [[nodiscard]] std::vector<numbers> offered() const {
        std::vector<numbers> list;
        for (const shared_offer& o : offers_) list.push_back(o.job.iterations);
        return list;
    }
    [[nodiscard]] const shared_offer& last() const { return offers_.back(); }
    [[nodiscard]] const numbers& asked() const { return asked_; }

  private:
    std::function<void(uint32_t, int64_t)> wanted_;
    std::vector<shared_offer> offers_;
    numbers asked_;
    bool late_ = false;
};

/// One client and one shared store of two iterations per file.
class sharing : public ::testing::Test {
  protected:
    sharing() { files.begin(); }
    ~sharing() override { parts.finish(); }

    /// The client wrote its block in the iteration, and ended it.
    iteration_book::key complete(int64_t iteration) {
        const auto k = parts.hand_over(0, static_cast<uint32_t>(iteration), iteration);
        parts.book.client_ended(0, iteration);
        EXPECT_EQ(parts.book.take_complete(), iteration);
        parts.book.begin_storing(iteration, 0, 1);
        parts.pending.add(0, iteration);
        return k;
    }
    /// The file of the last offer is over.
    void end_file(const shared_outcome& outcome) {
        others.last().done(outcome);
        parts.news.read();
    }
    static shared_outcome failed(size_t iterations, bool try_again) {
        shared_outcome outcome;
        outcome.iterations = iterations;
        outcome.report = failure{error_kind::system, "no space", 28};
        outcome.try_again = try_again;
        return outcome;
    }
    [[nodiscard]] bool in_file(iteration_book::key k) { return parts.book.find(k)->in_job; }
    [[nodiscard]] bool is_back(uint32_t index) const { return parts.entry(0, index).state.load() == block_state::free; }

    testing::parts_of_a_server parts{
        "halcyon: 1\nsimulation: t\n"
        "data: {layouts: {row: {type: float32, dimensions: [4]}},\n"
        "       variables: {a: {layout: row, store: main}}}\n"
        "stores: {main: {type: hdf5, path: out, collective: true, iterations-per-file: 2}}\n"
        "resources: {server: {retry: 60 min}}\n",
        1};
    other_servers others;
    no_turns turns;
    iteration_pace pace;
    std::unique_ptr<output_writer> output =
        output_writer::open(parts.data, parts.folder.path().string(), "n0000", 1, "a run").value();
    view_refresh view{parts.data, 0, 2, *output, parts.notes, parts.news, parts.pool};
    file_assembly assembly{parts.data, parts.book, parts.held, parts.notes, parts.losses};
    settlement settled{parts.shared, parts.data,  parts.book,   parts.held,    pace,
                       view,         parts.notes, parts.losses, parts.progress};
    file_queue queue{parts.data, turns,       parts.book,   *output,    assembly,
                     settled,    parts.notes, parts.losses, parts.news, parts.pool};
    file_sharing files{parts.data,    &others, parts.book,  *output,      assembly,  settled,
                       parts.pending, queue,   parts.notes, parts.losses, parts.news};
};

TEST_F(sharing, offers_a_group_when_it_is_full) {
    complete(0);
    files.offer_what_is_ready();
    EXPECT_TRUE(others.offered().empty());
    complete(1);
    files.offer_what_is_ready();
    EXPECT_EQ(others.offered(), std::vector<numbers>{(numbers{0, 1})});
    EXPECT_EQ(others.last().job.blocks.size(), 2U);
    complete(2);
    complete(3);
    files.offer_what_is_ready();
    EXPECT_EQ(others.offered().size(), 1U) << "one offer at a time";
}

TEST_F(sharing, offers_less_when_somebody_in_the_job_waits_for_it) {
    complete(0);
    others.wait_for(0);
    parts.news.read();
    files.offer_what_is_ready();
    EXPECT_EQ(others.offered(), std::vector<numbers>{numbers{0}});
}

TEST_F(sharing, makes_no_file_while_the_iteration_that_somebody_waits_for_is_not_complete_here) {
    complete(0);
    others.wait_for(1);
    parts.news.read();
    files.offer_what_is_ready();
    EXPECT_TRUE(others.offered().empty());
}

TEST_F(sharing, offers_what_is_left_when_no_client_is) {
    complete(0);
    parts.book.client_left(0, iteration_book::leaving::closed);
    files.offer_what_is_ready();
    EXPECT_EQ(others.offered(), std::vector<numbers>{numbers{0}});
}

TEST_F(sharing, tells_the_others_once_for_which_iteration_it_waits) {
    files.want(0, 3);
    files.want(0, 3);
    files.want(0, 2);
    files.want(0, 4);
    EXPECT_EQ(others.asked(), (numbers{3, 4}));
}

TEST_F(sharing, frees_the_blocks_of_an_offer_that_it_withdraws) {
    const auto first = complete(0), second = complete(1);
    files.offer_what_is_ready();
    ASSERT_TRUE(files.has_offers());
    ASSERT_TRUE(in_file(first) && in_file(second));
    EXPECT_EQ(assembly.early_part(), nullptr) << "all blocks are in the offer";
    EXPECT_TRUE(files.withdraw_offers());
    EXPECT_FALSE(files.has_offers());
    EXPECT_EQ(parts.pending.of(0), (numbers{0, 1}));
    EXPECT_FALSE(in_file(first) || in_file(second));
    EXPECT_FALSE(files.withdraw_offers()) << "there is none any more";
    const auto part = assembly.early_part();
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->request.iterations, numbers{0});
    EXPECT_EQ(part->keys, std::vector{first});
}

TEST_F(sharing, keeps_an_offer_that_comes_too_late_to_withdraw) {
    const auto k = complete(0);
    complete(1);
    files.offer_what_is_ready();
    others.have_begun();
    EXPECT_FALSE(files.withdraw_offers());
    EXPECT_TRUE(files.has_offers());
    EXPECT_TRUE(in_file(k));
    EXPECT_TRUE(parts.pending.empty());
}

TEST_F(sharing, keeps_what_the_file_did_not_take) {
    complete(0);
    const auto second = complete(1);
    files.offer_what_is_ready();
    shared_outcome outcome;
    outcome.iterations = 1;
    end_file(outcome);
    EXPECT_EQ(parts.notes.stored_through(), 0);
    EXPECT_TRUE(is_back(0));
    EXPECT_FALSE(is_back(1));
    EXPECT_FALSE(in_file(second));
    EXPECT_EQ(parts.pending.of(0), numbers{1});
    complete(2);
    files.offer_what_is_ready();
    EXPECT_EQ(others.offered().back(), (numbers{1, 2}));
}

TEST_F(sharing, waits_before_it_offers_again_what_failed) {
    complete(0);
    complete(1);
    files.offer_what_is_ready();
    end_file(failed(2, true));
    EXPECT_EQ(parts.pending.of(0), (numbers{0, 1}));
    constexpr int64_t hour_ns = 3'600'000'000'000;
    EXPECT_LT(files.due_in_ns(hour_ns), 1'000'000'000);
    EXPECT_EQ(parts.notes.stored_through(), -1);
    EXPECT_EQ(parts.notes.counts().failed_files, 0);
}

TEST_F(sharing, counts_the_blocks_of_a_file_that_is_given_up) {
    complete(0);
    complete(1);
    files.offer_what_is_ready();
    end_file(failed(2, false));
    EXPECT_EQ(parts.notes.stored_through(), 1) << "nothing more will come of them";
    EXPECT_TRUE(is_back(0) && is_back(1));
    EXPECT_EQ(parts.notes.counts().failed_files, 1);
    EXPECT_EQ(parts.notes.counts().missing_blocks, 2);
    EXPECT_EQ(parts.notes.counts().blocks, 0);
    EXPECT_EQ(parts.shared.header().lost_from.load(), 0) << "clients that wait hear of it";
}

}  // namespace
}  // namespace halcyon::offload
