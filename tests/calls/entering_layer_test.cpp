// What the only layer of a process sees of a call, by what it says when the call enters.
#include <gtest/gtest.h>

#include "calls/record/interception.hpp"

namespace halcyon::tests {
namespace {

using namespace halcyon::calls;

class noting_layer final : public entering_layer {
  public:
    uint64_t answer = 0;
    int passed = 0;  // through invoke()
    int entered = 0;
    int left = 0;
    call_record last{};

    void invoke(call_record& record, const next_call& next) override {
        ++passed;
        next(record);
        last = record;
    }
    [[nodiscard]] entering_layer* as_entering() override { return this; }
    uint64_t enter(call_record&) override {
        ++entered;
        return answer;
    }
    void leave(const call_record& record, uint64_t with) override {
        ++left;
        EXPECT_EQ(with, answer);
        last = record;
    }
};

class entering_layer_test : public testing::Test {
  protected:
    entering_layer_test() { this_process().layers.add(only_); }
    ~entering_layer_test() override { this_process().layers.clear(); }
    entering_layer_test(const entering_layer_test&) = delete;
    entering_layer_test& operator=(const entering_layer_test&) = delete;

    template <after_call when = after_call::always>
    long call() {
        call_record record = blank_record(call_id::pwrite);
        return through_layers<when>(
            this_thread(), record,
            [this] {
                ++made_;
                EXPECT_EQ(this_thread().current, this_thread().number);
                return 4096L;
            },
            [this](call_record& called, long result) {
                ++completed_;
                called.moved = result;
            });
    }
    void expect_whole(bool timed) const {
        EXPECT_EQ(only_.last.result, 4096);
        EXPECT_EQ(only_.last.moved, 4096);
        EXPECT_EQ(only_.last.function, static_cast<uint16_t>(call_id::pwrite));
        EXPECT_EQ(only_.last.start != 0, timed);
    }

    struct counts {
        int made, completed, left, passed;
    };
    /// Calls up to now, none of which is under way.
    void expect_counts(const counts& all) const {
        EXPECT_EQ(made_, all.made);
        EXPECT_EQ(completed_, all.completed);
        EXPECT_EQ(only_.left, all.left);
        EXPECT_EQ(only_.passed, all.passed);
        EXPECT_EQ(this_thread().current, 0U);
    }

    noting_layer only_;
    int made_ = 0, completed_ = 0;
};

TEST_F(entering_layer_test, is_told_the_end_of_a_call_that_enters) {
    for (const uint64_t answer : {uint64_t{2}, uint64_t{2} | entering_layer::untimed}) {
        only_.answer = answer;
        EXPECT_EQ(call<after_call::for_layers>(), 4096);
        expect_whole(answer == 2);
    }
    expect_counts({.made = 2, .completed = 2, .left = 2, .passed = 0});
}

TEST_F(entering_layer_test, is_not_told_the_end_of_a_call_that_it_lets_go) {
    only_.answer = entering_layer::let_go;
    EXPECT_EQ(call(), 4096);
    EXPECT_EQ(completed_, 1);
    EXPECT_EQ(call<after_call::for_layers>(), 4096);
    expect_counts({.made = 2, .completed = 1, .left = 0, .passed = 0});
}

TEST_F(entering_layer_test, sees_a_call_pass_that_may_not_enter) {
    EXPECT_EQ(call<after_call::for_layers>(), 4096);
    expect_whole(true);
    expect_counts({.made = 1, .completed = 1, .left = 0, .passed = 1});
}

TEST_F(entering_layer_test, is_entered_by_no_call_beside_another_layer) {
    noting_layer other;
    this_process().layers.add(other);
    only_.answer = other.answer = 2;
    EXPECT_EQ(call(), 4096);
    for (const noting_layer* each : {&only_, &other}) {
        EXPECT_EQ(each->entered, 0);
        EXPECT_EQ(each->passed, 1);
        EXPECT_EQ(each->left, 0);
    }
    EXPECT_EQ(made_, 1);
}

}  // namespace
}  // namespace halcyon::tests
