// What layers see of the calls that a backend makes to answer one of the application's.
#include "calls/backends/report_below.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "calls/backends/mounts.hpp"
#include "calls/record/interception.hpp"

namespace halcyon::calls {
namespace {

class noting_layer final : public layer {
  public:
    void invoke(call_record& record, const next_call& next) override {
        may_block.push_back(next.circumstances(record).may_block);
        next(record);
        records.push_back(record);
    }
    [[nodiscard]] bool wants_calls_below() const override { return true; }

    std::vector<call_record> records;
    std::vector<bool> may_block;
};

noting_layer& noted() {
    static noting_layer one;
    return one;
}

}  // namespace

bool can_start_layers() {
    return true;
}
void backends::start_backends() {}
void backends::answer_streams() {}
void start_layers(layer_chain& layers) {
    layers.clear();
    layers.add(noted());
}
const char* const* environment_of_children() {
    static const char* const none[] = {nullptr};
    return none;
}

}  // namespace halcyon::calls

namespace halcyon::tests {
namespace {

using namespace halcyon::calls;

constexpr uint32_t dropping = 7;

int64_t write_below(int64_t result) {
    return report_below({call_id::log_pwrite, dropping, 512, 4096, 1}, [=] { return result; });
}

/// A call of POSIX, in the middle of which `work` is done.
template <class Work>
void during_a_call(Work work) {
    call_record record = blank_record(call_id::pwrite);
    through_layers(
        this_thread(), record, [&] { return work(); }, [](call_record&, int64_t) {});
}

class report_below_test : public testing::Test {
  protected:
    report_below_test() {
        EXPECT_TRUE(recording());
        EXPECT_TRUE(are_calls_below_wanted());
        seen_.clear();
        noted().may_block.clear();
    }

    std::vector<call_record>& seen_ = noted().records;
};

TEST_F(report_below_test, shows_a_call_as_made_by_the_one_that_is_answered) {
    during_a_call([] { return write_below(4096); });
    ASSERT_EQ(seen_.size(), 2U);
    const call_record& below = seen_.front();
    const call_record& answered = seen_.back();
    EXPECT_EQ(entry_of(below.function).at, level::log);
    EXPECT_STREQ(entry_of(below.function).name, "log pwrite");
    EXPECT_EQ(below.parent, answered.number);
    EXPECT_EQ(below.thread, answered.thread);
    EXPECT_GT(below.number, answered.number);
    EXPECT_EQ(answered.parent, 0U);
    EXPECT_EQ(below.file, dropping);
    EXPECT_EQ(below.offset, 512);
    EXPECT_EQ(below.bytes, 4096);
    EXPECT_EQ(below.moved, 4096);
    EXPECT_EQ(below.argument, 1);
    EXPECT_EQ(below.error, 0);
    EXPECT_EQ(noted().may_block, (std::vector<bool>{true, false}));
}

TEST_F(report_below_test, shows_why_a_call_failed) {
    during_a_call([] {
        EXPECT_EQ(write_below(-ENOSPC), -ENOSPC);
        EXPECT_EQ(write_below(-EPERM), -EPERM);  // as a number, what functions return that fail
        return 0;
    });
    ASSERT_EQ(seen_.size(), 3U);
    EXPECT_EQ(seen_[0].error, ENOSPC);
    EXPECT_EQ(seen_[1].error, EPERM);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(seen_[i].result, -1);
        EXPECT_EQ(seen_[i].moved, none);
    }
}

TEST_F(report_below_test, has_the_record_completed) {
    during_a_call([] {
        return report_below(
            {call_id::log_open, dropping, none, none}, [] { return 3; },
            [](call_record& record) { record.file = static_cast<uint32_t>(record.result) + 100; });
    });
    EXPECT_EQ(seen_.front().file, 103U);
    EXPECT_EQ(seen_.front().moved, none);
}

TEST_F(report_below_test, shows_what_a_backend_does_of_its_own_accord_as_made_by_nobody) {
    EXPECT_EQ(write_below(10), 10);
    ASSERT_EQ(seen_.size(), 1U);
    EXPECT_EQ(seen_.front().parent, 0U);
}

TEST_F(report_below_test, takes_a_call_of_a_handler_for_nobodys) {
    during_a_call([] {
        return report_below({call_id::log_fdatasync, dropping, none, none}, [] {
            during_a_call([] { return 0; });
            return int64_t{0};
        });
    });
    ASSERT_EQ(seen_.size(), 3U);
    EXPECT_EQ(seen_[0].parent, 0U);
    EXPECT_EQ(seen_[1].parent, seen_[2].number);
}

TEST_F(report_below_test, shows_nothing_that_no_layer_wants_or_that_the_recorder_does) {
    this_process().below = false;
    EXPECT_EQ(write_below(1), 1);
    this_process().below = true;
    {
        const own_work ours;
        EXPECT_FALSE(is_shown_below());
        EXPECT_EQ(write_below(2), 2);
    }
    EXPECT_TRUE(seen_.empty());
}

}  // namespace
}  // namespace halcyon::tests
