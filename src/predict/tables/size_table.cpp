#include "predict/tables/size_table.hpp"

#include <algorithm>
#include <cmath>

#include "policy/forecast.hpp"

namespace halcyon::predict {

namespace {

constexpr float decay = 1.0f / 16;
constexpr size_t values_bytes = limits::most_values * sizeof(int64_t);

/// 1 for equal sizes, towards 0 the less of the larger one the smaller one is.
float likeness(int64_t predicted, int64_t observed) {
    if (predicted == observed) return 1;
    if (predicted <= 0 || observed <= 0) return 0;
    return static_cast<float>(std::min(predicted, observed)) / static_cast<float>(std::max(predicted, observed));
}

}  // namespace

int64_t size_table::said_by(method which, int number) const {
    switch (which) {
        case by_sequence:
            return number < 0 ? last_ : values_[number];
        case by_last:
            return last_;
        case by_mean:
            return std::llround(mean_);
        default:
            return std::llround(weighted_);
    }
}

/// An equal size is worth more than one that is nearly so: ties go to the grammar, then to the last one.
size_table::method size_table::best(bool sequence_knows) const {
    method chosen = sequence_knows ? by_sequence : by_last;
    for (const method other : {by_last, by_mean, by_weighted}) {
        if (likeness_[other] > likeness_[chosen]) chosen = other;
    }
    return chosen;
}

int64_t size_table::next(uint64_t walk) const {
    if (count_ == 0) return policy::not_known;
    if (constant()) return last_;
    const int number = values_ == nullptr ? local_sequence::unknown : sequence_.next_on(walk);
    return said_by(best(number >= 0), number);
}

void size_table::learn(int64_t bytes, const limits& cut_off, memory_bound& memory) {
    if (bytes < 0) return;
    if (count_ > 0 && (bytes != last_ || !constant())) {
        const int number = values_ == nullptr ? local_sequence::unknown : sequence_.next();
        for (const method m : {by_sequence, by_last, by_mean, by_weighted})
            likeness_[m] += (likeness(said_by(m, number), bytes) - likeness_[m]) * decay;
    }
    if (!too_many_ && (count_ > 0 && (values_ != nullptr || bytes != last_))) learn_value(bytes, cut_off, memory);
    const auto size = static_cast<double>(bytes);
    ++count_;
    least_ = count_ == 1 ? bytes : std::min(least_, bytes);
    most_ = count_ == 1 ? bytes : std::max(most_, bytes);
    mean_ += (size - mean_) / static_cast<double>(count_);
    weighted_ = count_ == 1 ? size : (weighted_ + size) / 2;
    last_ = bytes;
}

int size_table::number_of(int64_t bytes) const {
    const int64_t* const end = values_ + value_count_;
    const int64_t* const found = std::find(static_cast<const int64_t*>(values_), end, bytes);
    return found == end ? local_sequence::unknown : static_cast<int>(found - values_);
}

/// From the second distinct size on; what came until then was the first one, however often.
void size_table::learn_value(int64_t bytes, const limits& cut_off, memory_bound& memory) {
    if (values_ == nullptr) {
        values_ = static_cast<int64_t*>(memory.take(values_bytes));
        if (values_ == nullptr) {
            too_many_ = true;
            return;
        }
        values_[0] = last_;
        value_count_ = 1;
        for (uint64_t i = 0; i < std::min<uint64_t>(count_, 64); ++i) static_cast<void>(sequence_.learn(0, memory));
    }
    int number = number_of(bytes);
    if (number < 0) {
        if (value_count_ >= std::min(cut_off.distinct_values, limits::most_values)) return give_up_values(memory);
        number = static_cast<int>(value_count_);
        values_[value_count_++] = bytes;
    }
    if (!sequence_.learn(static_cast<uint32_t>(number), memory)) give_up_values(memory);
}

void size_table::give_up_values(memory_bound& memory) {
    sequence_.release(memory);
    memory.give_back(values_, values_bytes);
    values_ = nullptr;
    value_count_ = 0;
    likeness_[by_sequence] = 0;
    too_many_ = true;
}

void size_table::release(memory_bound& memory) {
    give_up_values(memory);
    *this = {};
}

}  // namespace halcyon::predict
