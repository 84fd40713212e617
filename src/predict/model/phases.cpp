#include "predict/model/phases.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon::predict {

namespace {

constexpr int64_t part_of_long_pause = 10;
constexpr double decay = 1.0 / 8;
constexpr double tolerance = 0.1;

/// Nothing is known of the first one.
void judge(double& luck, const time_estimate& of, int64_t value) {
    if (of.count() == 0) return;
    const auto expected = static_cast<double>(of.next());
    const double allowed = std::max(tolerance * std::abs(expected), 2.0 * static_cast<double>(of.deviation()));
    const bool came = std::abs(static_cast<double>(value) - expected) <= allowed;
    luck = of.count() == 1 ? (came ? 1 : 0) : luck + ((came ? 1 : 0) - luck) * decay;
}

}  // namespace

int64_t phases::pause_ns() const {
    return std::max(least_pause_, long_pause_ / part_of_long_pause);
}

void phases::learn(int64_t gap_ns, const call& next) {
    if (gap_ns > pause_ns()) {
        judge(calls_luck_, calls_of_, static_cast<int64_t>(calls_));
        ++completed_;
        calls_of_.learn(static_cast<int64_t>(calls_));
        bytes_of_.learn(bytes_);
        duration_of_.learn(std::max<int64_t>(end_ - start_ - waited_, 0), beside_others_);
        interval_of_.learn(next.start_ns - start_);
        long_pause_ = std::max(gap_ns, long_pause_ - long_pause_ / part_of_long_pause);
        calls_ = 0;
        bytes_ = 0;
        waited_ = 0;
        beside_others_ = false;
    }
    if (calls_ == 0)
        start_ = next.start_ns;
    else
        waited_ += next.wait_ns;
    ++calls_;
    bytes_ += std::max<int64_t>(next.bytes, 0);
    beside_others_ = beside_others_ || next.beside_others;
    end_ = next.end_ns;
}

int64_t phases::next_by_habit(int64_t now_ns) const {
    if (interval_of_.count() == 0) return policy::not_known;
    return std::max<int64_t>(start_ + interval_of_.next() - now_ns, 0);
}

policy::expected_phase phases::rest_by_habit(int64_t now_ns) const {
    policy::expected_phase rest;
    rest.calls_done = calls_;
    if (calls_of_.count() == 0) return rest;
    const auto calls_left = calls_of_.next() - static_cast<int64_t>(calls_);
    rest.calls_left = static_cast<uint64_t>(std::max<int64_t>(calls_left, 0));
    rest.bytes_left = std::max<int64_t>(bytes_of_.next() - bytes_, 0);
    rest.time_left_ns = std::max<int64_t>(start_ + waited_ + duration_of_.estimate().next() - now_ns, 0);
    rest.confidence = calls_luck_;
    return rest;
}

}  // namespace halcyon::predict
