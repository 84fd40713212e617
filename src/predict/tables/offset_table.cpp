#include "predict/tables/offset_table.hpp"

#include <algorithm>

#include "policy/forecast.hpp"

namespace halcyon::predict {

namespace {

constexpr float decay = 1.0f / 16;
constexpr int none = -1;
constexpr auto to_end = static_cast<uint32_t>(offset_base::end);

}  // namespace

/// The base whose distance has stayed the same most often; ties go to the earlier one. `none`: none is known here.
int offset_table::best_habit(const offset_places& places) const {
    int chosen = none;
    for (uint32_t i = 0; i < offset_bases; ++i) {
        if (!habits_[i].known || places.at[i] < 0 || places.at[i] + habits_[i].distance < 0) continue;
        if (chosen == none || habits_[i].luck > habits_[chosen].luck) chosen = static_cast<int>(i);
    }
    return chosen;
}

float offset_table::luck() const {
    float most = std::max(consecutive_luck_, sequence_.luck());
    for (const habit& one : habits_) most = std::max(most, one.luck);
    return most;
}

int64_t offset_table::next(const offset_places& places, uint64_t walk) const {
    if (!learnt_) return policy::not_known;
    const int base = best_habit(places);
    const float habit_luck = base == none ? -1 : habits_[base].luck;
    const int number = too_many_ ? local_sequence::unknown : sequence_.next_on(walk);
    if (number >= 0 && sequence_.luck() >= habit_luck) {
        const transformation& said = transformations_ == nullptr ? first_ : transformations_[number];
        if (const int64_t offset = said.applied_to(places); offset >= 0) return offset;
    }
    // What the thesis falls back to: consecutive.
    if (places.at[to_end] >= 0 && consecutive_luck_ > habit_luck) return places.at[to_end];
    if (base == none) return places.at[to_end] < 0 ? 0 : places.at[to_end];
    return places.at[base] + habits_[base].distance;
}

void offset_table::learn(const offset_places& places, int64_t offset, const limits& cut_off, memory_bound& memory) {
    learn_transformation(places, offset, cut_off, memory);
    if (places.at[to_end] >= 0)
        consecutive_luck_ += ((places.at[to_end] == offset ? 1 : 0) - consecutive_luck_) * decay;
    for (uint32_t i = 0; i < offset_bases; ++i) {
        if (places.at[i] < 0) continue;
        habit& one = habits_[i];
        const int64_t distance = offset - places.at[i];
        if (one.known) one.luck += ((one.distance == distance ? 1 : 0) - one.luck) * decay;
        one.distance = distance;
        one.known = true;
    }
    learnt_ = true;
}

int offset_table::explained_by(const offset_places& places, int64_t offset, int predicted) const {
    if (transformations_ == nullptr) return learnt_ && first_.applied_to(places) == offset ? 0 : none;
    if (predicted >= 0 && transformations_[predicted].applied_to(places) == offset) return predicted;
    for (uint32_t i = 0; i < transformation_count_; ++i) {
        if (transformations_[i].applied_to(places) == offset) return static_cast<int>(i);
    }
    return none;
}

void offset_table::learn_transformation(const offset_places& places, int64_t offset, const limits& cut_off,
                                        memory_bound& memory) {
    if (too_many_) return;
    int number = explained_by(places, offset, sequence_.next());
    if (number == none) {
        // A new one, counted from the base that has explained most; at first from the end of the access before.
        const int base = best_habit(places);
        offset_base from = base == none ? offset_base::zero : static_cast<offset_base>(base);
        if (places.at[to_end] >= 0 && (base == none || places.at[to_end] == offset || habits_[base].luck == 0))
            from = offset_base::end;
        const transformation made{offset - places.of(from), from};
        if (!learnt_) {
            first_ = made;
        } else {
            if (transformations_ == nullptr) {
                if (!take_transformations(memory)) return give_up_transformations(memory);
                transformations_[0] = first_;
                transformation_count_ = 1;
            }
            if (transformation_count_ >= std::min(cut_off.distinct_values, limits::most_values))
                return give_up_transformations(memory);
            transformations_[transformation_count_++] = made;
        }
        number = transformations_ == nullptr ? 0 : static_cast<int>(transformation_count_) - 1;
    }
    if (!sequence_.learn(static_cast<uint32_t>(number), memory)) give_up_transformations(memory);
}

bool offset_table::take_transformations(memory_bound& memory) {
    transformations_ = static_cast<transformation*>(memory.take(limits::most_values * sizeof(transformation)));
    return transformations_ != nullptr;
}

void offset_table::give_up_transformations(memory_bound& memory) {
    sequence_.release(memory);
    memory.give_back(transformations_, limits::most_values * sizeof(transformation));
    transformations_ = nullptr;
    transformation_count_ = 0;
    too_many_ = true;
}

void offset_table::release(memory_bound& memory) {
    give_up_transformations(memory);
    *this = {};
}

}  // namespace halcyon::predict
