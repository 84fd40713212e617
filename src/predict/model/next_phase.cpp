#include "predict/model/next_phase.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace halcyon::predict {

namespace {

constexpr double decay = 1.0 / 8;
constexpr double error_decay = 1.0 / 16;
constexpr double tolerance = 0.1;

/// Errors of two independent times add up in the middle, and in their squares around it. `share`: how much of the way
/// from the one to the other.
time_range between(const time_range& one, const time_range& other, double share) {
    const auto middle = [](const time_range& of) {
        return (static_cast<double>(of.low) + static_cast<double>(of.high)) / 2;
    };
    const auto half = [](const time_range& of) {
        return (static_cast<double>(of.high) - static_cast<double>(of.low)) / 2;
    };
    const double squares = half(one) * half(one);
    const double more = std::max(half(other) * half(other) - squares, 0.0);
    const double centre = middle(one) + share * (middle(other) - middle(one));
    const double wide = std::sqrt(squares + share * more);
    return {std::llround(centre - wide), std::llround(centre + wide)};
}

}  // namespace

void next_phase::learn(const phase_course& walked, int64_t gap_ns, int64_t start_ns) {
    const phase_course said = best_of(walked);
    if (said.begins_ns != policy::not_known) {
        judge(said.begins_ns, gap_ns);
        at_end_.learn(said.begins_ns, gap_ns - said.begins_ns);
    }
    if (begun_.begins_ns != policy::not_known)
        at_begin_.learn(begun_.begins_ns, start_ns - begun_at_ - begun_.begins_ns);
    compare(walked, gap_ns);
    begun_ = {};
}

void next_phase::learn_call(uint32_t symbol, bool is_first, int64_t pause_ns, int64_t start_ns, int64_t end_ns) {
    timers_.learn(symbol, is_first, pause_ns, start_ns, end_ns);
    last_end_ = end_ns;
}

void next_phase::expect(const phase_course& walked) {
    begun_ = best_of(walked);
    begun_at_ = last_end_;
}

/// Lets a phase that has begun say which of both was nearer to it.
void next_phase::compare(const phase_course& walked, int64_t gap_ns) {
    const int64_t due = timers_.next_ns(last_end_);
    if (due == policy::not_known || walked.begins_ns == policy::not_known) return;
    const auto off = [&](int64_t said) { return std::abs(static_cast<double>(said - gap_ns)); };
    walk_error_ += (off(walked.begins_ns) - walk_error_) * error_decay;
    timer_error_ += (off(due - last_end_) - timer_error_) * error_decay;
}

phase_course next_phase::best_of(const phase_course& walked) const {
    if (timer_error_ >= walk_error_) return walked;
    // What is due while the phase goes on becomes a part of it.
    const int64_t due = timers_.next_ns(last_end_ + walked.rest_ns);
    return due == policy::not_known ? walked : phase_course{walked.rest_ns, due - last_end_};
}

/// True: within a tenth, or within two of the deviations.
void next_phase::judge(int64_t expected_ns, int64_t gap_ns) {
    const auto expected = static_cast<double>(expected_ns);
    const double allowed = std::max(tolerance * expected, 2.0 * static_cast<double>(at_end_.deviation()));
    const double came = std::abs(static_cast<double>(gap_ns) - expected) <= allowed ? 1 : 0;
    luck_ = judged_ ? luck_ + (came - luck_) * decay : came;
    judged_ = true;
}

policy::expected_period next_phase::period(const phase_course& walked, int64_t elapsed_ns) const {
    const phase_course said = best_of(walked);
    if (said.begins_ns == policy::not_known) return {};
    policy::expected_period found{.next_in_ns = std::max<int64_t>(said.begins_ns - elapsed_ns, 0),
                                  .deviation_ns = at_end_.deviation(),
                                  .confidence = luck_};
    const bool pauses = said.rest_ns <= elapsed_ns;
    auto off = at_end_.likely(said.begins_ns, pauses ? elapsed_ns : 0);
    if (!off) return found;
    // In the phase, some of what can go wrong until the pause has not yet.
    if (const auto whole = at_begin_.likely(begun_.begins_ns); whole && !pauses && begun_.rest_ns > 0) {
        const double share = static_cast<double>(said.rest_ns - elapsed_ns) / static_cast<double>(begun_.rest_ns);
        off = between(*off, *whole, std::min(share, 1.0));
    }
    found.earliest_ns = std::max<int64_t>(said.begins_ns + off->low - elapsed_ns, 0);
    found.latest_ns = std::max<int64_t>(said.begins_ns + off->high - elapsed_ns, 0);
    found.next_in_ns = std::clamp(found.next_in_ns, found.earliest_ns, found.latest_ns);
    return found;
}

}  // namespace halcyon::predict
