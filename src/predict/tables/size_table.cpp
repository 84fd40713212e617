#include "predict/tables/size_table.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "policy/forecast.hpp"

namespace halcyon::predict {

namespace {

constexpr float decay = 1.0f / 32;

/// After so many sizes a sequence has a pattern, or it costs more than it says.
constexpr uint64_t patience = 256;
constexpr float least_told = 0.05f;
constexpr float told_decay = 1.0f / 128;

/// 1 for equal sizes; for others less than that by a tenth at least, towards 0 the less of the larger one the smaller
/// one is: a size that comes nearly always is a better guess than a mean that never comes.
constexpr float nearly = 0.9f;

float likeness(float predicted, float observed) {
    if (predicted == observed) return 1;
    return nearly * std::min(predicted, observed) / std::max(std::max(predicted, observed), 1.0f);
}

float likeness(int64_t predicted, int64_t observed) {
    if (predicted == observed) return 1;
    if (predicted <= 0 || observed <= 0) return 0;
    return std::min(likeness(static_cast<float>(predicted), static_cast<float>(observed)), nearly);
}

}  // namespace

/// The last sizes, and how like they were to those a fixed number of calls before.
struct size_table::lags {
    static constexpr uint32_t most = 64;

    int64_t sizes[most] = {};
    float as_float[most] = {};
    float likeness[most] = {};  // [i]: to the size i + 1 calls before
    uint64_t count = 0;
    uint32_t best = 0;
    // Of the walk ahead that came by last.
    uint64_t walk = 0;
    uint32_t visits = 0;

    [[nodiscard]] int64_t before(uint32_t calls) const { return sizes[(count - calls) % most]; }
    void learn(int64_t bytes) {
        const auto size = static_cast<float>(bytes);
        const auto known = static_cast<uint32_t>(std::min<uint64_t>(count, most));
        for (uint32_t i = 0; i < known; ++i) {
            const float like = halcyon::predict::likeness(as_float[(count - 1 - i) % most], size);
            likeness[i] += (like - likeness[i]) * decay;
        }
        best = 0;
        for (uint32_t i = 1; i < known; ++i) {
            if (likeness[i] > likeness[best]) best = i;
        }
        sizes[count % most] = bytes;
        as_float[count % most] = size;
        ++count;
    }
    /// What is expected the next time that this walk comes by.
    [[nodiscard]] int64_t next_on(uint64_t number) {
        if (walk != number) walk = number, visits = 0;
        const uint32_t lag = best + 1;
        return before(lag - visits++ % lag);
    }
};

int64_t size_table::said_by(method which, int number) const {
    switch (which) {
        case by_sequence:
            return tells(number) ? values_[number].bytes : last_;
        case by_last:
            return last_;
        case by_mean:
            return std::llround(mean_);
        case by_weighted:
            return std::llround(weighted_);
        default:
            return lags_ == nullptr || lags_->count == 0 ? last_ : lags_->before(lags_->best + 1);
    }
}

/// An equal size is worth more than one that is nearly so: ties go to the grammar, then to the last one.
size_table::method size_table::best(bool sequence_knows) const {
    method chosen = sequence_knows ? by_sequence : by_last;
    for (const method other : {by_last, by_mean, by_weighted, by_lag}) {
        if (likeness_[other] > likeness_[chosen]) chosen = other;
    }
    return chosen;
}

int64_t size_table::next(uint64_t walk) const {
    if (count_ == 0) return policy::not_known;
    if (constant()) return last_;
    const int number = values_ == nullptr ? local_sequence::unknown : sequence_.next_on(walk);
    const method chosen = best(tells(number));
    if (chosen == by_lag && lags_ != nullptr && lags_->count > 0) return lags_->next_on(walk);
    return said_by(chosen, number);
}

void size_table::learn(int64_t bytes, const limits& cut_off, calls::memory_bound& memory) {
    if (bytes < 0) return;
    if (count_ > 0 && (bytes != last_ || !constant())) {
        const int number = values_ == nullptr ? local_sequence::unknown : sequence_.next();
        for (const method m : {by_sequence, by_last, by_mean, by_weighted, by_lag})
            likeness_[m] += (likeness(said_by(m, number), bytes) - likeness_[m]) * decay;
    }
    if (count_ > 0 && (lags_ != nullptr || bytes != last_)) learn_lags(bytes, memory);
    if (!too_many_ && (count_ > 0 && (values_ != nullptr || bytes != last_))) learn_value(bytes, cut_off, memory);
    const auto size = static_cast<double>(bytes);
    ++count_;
    least_ = count_ == 1 ? bytes : std::min(least_, bytes);
    most_ = count_ == 1 ? bytes : std::max(most_, bytes);
    mean_ += (size - mean_) / static_cast<double>(count_);
    weighted_ = count_ == 1 ? size : (weighted_ + size) / 2;
    last_ = bytes;
}

void size_table::learn_lags(int64_t bytes, calls::memory_bound& memory) {
    if (lags_ == nullptr) {
        void* const place = memory.take(sizeof(lags));
        if (place == nullptr) return;
        lags_ = new (place) lags();
        for (uint64_t i = 0; i < std::min<uint64_t>(count_, lags::most); ++i) lags_->learn(last_);
    }
    lags_->learn(bytes);
}

/// The number of a size: its own, or one that is free; `other`, and then it takes the place of another size which came
/// once, so that it has a number the next time.
uint32_t size_table::number_of(int64_t bytes, const limits& cut_off) {
    for (uint32_t i = 0; i < value_count_; ++i) {
        if (values_[i].bytes == bytes) return i;
    }
    if (value_count_ < std::min(cut_off.distinct_values, limits::most_values)) {
        values_[value_count_] = {bytes, 0};
        return value_count_++;
    }
    for (uint32_t i = 0; i < value_count_; ++i) {
        const uint32_t at = (next_victim_ + i) % value_count_;
        if (values_[at].uses > 1) continue;
        next_victim_ = at + 1;
        values_[at] = {bytes, 1};
        break;
    }
    return other;
}

/// From the second distinct size on; what came until then was the first one, however often.
void size_table::learn_value(int64_t bytes, const limits& cut_off, calls::memory_bound& memory) {
    if (values_ == nullptr) {
        if (!take_values(memory)) {
            too_many_ = true;
            return;
        }
        values_[0] = {last_, 2};
        value_count_ = 1;
        for (uint64_t i = 0; i < std::min<uint64_t>(count_, 64); ++i) static_cast<void>(sequence_.learn(0, memory));
    }
    const uint32_t number = number_of(bytes, cut_off);
    if (number != other) ++values_[number].uses;
    const int said = sequence_.next();
    told_ += ((tells(said) && static_cast<uint32_t>(said) == number ? 1.0f : 0.0f) - told_) * told_decay;
    const bool without_pattern = count_ > patience && told_ < least_told;
    if (!sequence_.learn(number, memory) || without_pattern) give_up_values(memory);
}

bool size_table::take_values(calls::memory_bound& memory) {
    values_ = static_cast<value*>(memory.take(limits::most_values * sizeof(value)));
    return values_ != nullptr;
}

void size_table::give_up_values(calls::memory_bound& memory) {
    sequence_.release(memory);
    memory.give_back(values_, limits::most_values * sizeof(value));
    values_ = nullptr;
    value_count_ = 0;
    likeness_[by_sequence] = 0;
    too_many_ = true;
}

void size_table::release(calls::memory_bound& memory) {
    give_up_values(memory);
    memory.give_back(lags_, sizeof(lags));
    *this = {};
}

}  // namespace halcyon::predict
