#include "predict/tables/time_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon::predict {

namespace {
constexpr double decay = 1.0 / 32;
}  // namespace

/// Of fewer than five: those that are missing are as the first one.
int64_t time_estimate::median_of_last() const {
    const auto [a, b, c, d, e] = last_;
    // Of a pair, neither the smaller of both smaller ones nor the larger of both larger ones is in the middle of five.
    const int64_t low = std::max(std::min(a, b), std::min(c, d));
    const int64_t high = std::min(std::max(a, b), std::max(c, d));
    return std::max(std::min(low, high), std::min(std::max(low, high), e));
}

double time_estimate::said_by(method which) const {
    switch (which) {
        case weighted_mean:
            return weighted_;
        case plain_mean:
            return mean_;
        case last_value:
            return static_cast<double>(last_[(place_ + window - 1) % window]);
        default:
            return static_cast<double>(median_of_last());
    }
}

time_estimate::method time_estimate::best() const {
    method chosen = weighted_mean;
    for (const method other : {median, plain_mean, last_value}) {
        if (errors_[other] < errors_[chosen]) chosen = other;
    }
    return chosen;
}

int64_t time_estimate::next() const {
    return count_ == 0 ? 0 : std::llround(said_by(best()));
}

void time_estimate::learn(int64_t value) {
    const auto number = static_cast<double>(value);
    if (count_ > 0) {
        std::array<double, methods> off;
        for (const method m : {weighted_mean, plain_mean, median, last_value}) off[m] = std::abs(said_by(m) - number);
        error_ += (off[best()] - error_) * decay;
        for (uint32_t m = 0; m < methods; ++m)
            errors_[m] += (static_cast<float>(off[m]) - errors_[m]) * static_cast<float>(decay);
    } else {
        last_.fill(value);
        least_ = most_ = value;
        weighted_ = number;
    }
    last_[place_] = value;
    place_ = place_ + 1 == window ? 0 : place_ + 1;
    ++count_;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    const double before = number - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (number - mean_);
    weighted_ = (weighted_ + number) / 2;
}

double time_estimate::variance() const {
    return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1);
}

int64_t time_estimate::deviation() const {
    return std::llround(std::sqrt(variance()));
}

}  // namespace halcyon::predict
