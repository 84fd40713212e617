#include "offload/client/steered_parameters.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace halcyon::offload {
namespace {

/// Rank 0, and the server's side of the mailbox.
class steered_parameters_test : public ::testing::Test {
  protected:
    steered_parameters_test()
        : steered_(data_, &shared_,
                   {[this](std::string_view name, double value) { return data_.set_parameter(name, value); },
                    [this](const event_record& e) {
                        events_.push_back(e);
                        return result<void>();
                    },
                    [this](const std::string& line) { log_.push_back(line); }}) {}

    void ask(size_t parameter, double value) {
        mail_.latest[parameter] = {++mail_.requests, value, 5, 77, 1000};
        shared_.steering().mail.write(mail_);
    }
    [[nodiscard]] steering_values published() const { return shared_.steering().values.read()->value; }

    model data_ = parse_model(
                      "halcyon: 1\nsimulation: t\nparameters: {n: 1, kappa: {value: 1, min: 0, max: 2, steerable: "
                      "true}, tau: {value: 0, min: -1, max: 1, steerable: true}}\n",
                      "t.yaml", {})
                      .value();
    segment shared_ = segment::create(plan_segment(data_, 1, need_of(data_, 0, 1).value()).value(), false).value();
    steering_mail mail_;
    std::vector<event_record> events_;
    std::vector<std::string> log_;
    steered_parameters steered_;
};

TEST_F(steered_parameters_test, a_request_is_taken_once_and_told_with_who_asked) {
    ask(1, 0.5);
    ASSERT_TRUE(steered_.take_requests(3));
    EXPECT_EQ(data_.parameters[2].value, 0.5);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].kind, event_kind::steered);
    EXPECT_EQ(events_[0].index, 2U);
    EXPECT_EQ(events_[0].iteration, 3);
    EXPECT_EQ(events_[0].sequence, 1U);
    EXPECT_EQ(std::bit_cast<double>(events_[0].value[0]), 0.5);
    EXPECT_EQ(std::vector<int64_t>(events_[0].value + 1, events_[0].value + 4), (std::vector<int64_t>{5, 77, 1000}));
    EXPECT_EQ(published().taken, 1U);
    EXPECT_EQ(published().since, 3);
    EXPECT_EQ(published().values[1], 0.5);
    // What the program sets later stays, until somebody asks again.
    ASSERT_TRUE(data_.set_parameter("tau", -1));
    ask(0, 2);
    ASSERT_TRUE(steered_.take_requests(4));
    EXPECT_EQ(events_.size(), 2U);
    EXPECT_EQ(published().values[0], 2);
    EXPECT_EQ(published().values[1], -1);
}

TEST_F(steered_parameters_test, of_several_requests_the_last_one_is_taken) {
    ask(0, 0.5);
    ask(0, 1.5);
    ASSERT_TRUE(steered_.take_requests(1));
    EXPECT_EQ(data_.parameters[1].value, 1.5);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].sequence, 2U);
}

TEST_F(steered_parameters_test, damaged_mail_changes_nothing) {
    for (const double value : {3.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) ask(0, value);
    ask(1, 7);
    ASSERT_TRUE(steered_.take_requests(1));
    EXPECT_EQ(data_.parameters[1].value, 1);
    EXPECT_EQ(data_.parameters[2].value, 0);
    EXPECT_TRUE(events_.empty());
    EXPECT_EQ(log_, (std::vector<std::string>{"request 4 is left out: parameter 'kappa': inf is not a finite number",
                                              "request 5 is left out: parameter 'tau': 7 is too large; its max is 1"}));
}

TEST_F(steered_parameters_test, values_are_written_for_the_server_only_when_one_has_changed) {
    ASSERT_TRUE(steered_.take_requests(0));
    ASSERT_TRUE(steered_.take_requests(1));
    EXPECT_EQ(shared_.steering().values.version(), 1U);
    ASSERT_TRUE(data_.set_parameter("tau", 1));
    ASSERT_TRUE(steered_.take_requests(2));
    EXPECT_EQ(shared_.steering().values.version(), 2U);
    EXPECT_EQ(published().since, 2);
}

}  // namespace
}  // namespace halcyon::offload
