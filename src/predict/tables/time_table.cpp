#include "predict/tables/time_table.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace halcyon::predict {

namespace {

constexpr float decay = 1.0f / 32;
/// Shorter times are all of one level: nothing that uses a forecast can tell them apart.
constexpr double immediate_ns = 100'000;
/// Times of one level differ by less than this factor from its mean.
constexpr double same_order = 2;

bool alike(double one, double other) {
    const double low = std::max(std::min(one, other), immediate_ns);
    const double high = std::max(std::max(one, other), immediate_ns);
    return high <= low * same_order;
}

}  // namespace

uint32_t time_table::level_of(int64_t gap_ns) const {
    const double gap = std::max(static_cast<double>(gap_ns), immediate_ns);
    uint32_t nearest = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < level_count_; ++i) {
        const double centre = std::max(levels_[i].weighted(), immediate_ns);
        const double distance = std::max(gap, centre) / std::min(gap, centre);
        if (distance < least) least = distance, nearest = i;
    }
    return nearest;
}

time_table::expectation time_table::next(uint64_t walk) const {
    const expectation of_all{all_.next(), all_.deviation()};
    if (level_count_ == 0 || static_cast<double>(levels_error_) > all_.error()) return of_all;
    const int level = sequence_.next_on(walk);
    if (level < 0) return of_all;
    return {levels_[level].next(), levels_[level].deviation()};
}

void time_table::learn(int64_t gap_ns, calls::memory_bound& memory) {
    const auto gap = static_cast<double>(gap_ns);
    const bool other_order = all_.count() > 0 && !alike(all_.weighted(), gap);
    if (level_count_ == 0 && other_order && !no_levels_ && !make_levels(memory)) no_levels_ = true;
    if (level_count_ > 0) {
        const int said = sequence_.next();
        const double expected = static_cast<double>(said < 0 ? all_.next() : levels_[said].next());
        levels_error_ += (static_cast<float>(std::abs(expected - gap)) - levels_error_) * decay;
        uint32_t level = level_of(gap_ns);
        if (!alike(levels_[level].weighted(), gap) && level_count_ < most_levels) {
            level = level_count_++;
        }
        levels_[level].learn(gap_ns);
        if (!sequence_.learn(level, memory)) give_up_levels(memory);
    }
    all_.learn(gap_ns);
}

bool time_table::take_levels(calls::memory_bound& memory) {
    void* const place = memory.take(most_levels * sizeof(time_estimate));
    if (place == nullptr) return false;
    levels_ = static_cast<time_estimate*>(place);
    for (uint32_t i = 0; i < most_levels; ++i) new (&levels_[i]) time_estimate();
    return true;
}

/// What came until now was one level.
bool time_table::make_levels(calls::memory_bound& memory) {
    if (!take_levels(memory)) return false;
    levels_[0] = all_;
    level_count_ = 1;
    levels_error_ = static_cast<float>(all_.error());
    for (uint64_t i = 0; i < std::min<uint64_t>(all_.count(), 64); ++i) {
        if (!sequence_.learn(0, memory)) return false;
    }
    return true;
}

void time_table::give_up_levels(calls::memory_bound& memory) {
    sequence_.release(memory);
    memory.give_back(levels_, most_levels * sizeof(time_estimate));
    levels_ = nullptr;
    level_count_ = 0;
    no_levels_ = true;
}

void time_table::release(calls::memory_bound& memory) {
    give_up_levels(memory);
    *this = {};
}

}  // namespace halcyon::predict
