#include "predict/tables/offset_table.hpp"

#include <algorithm>

#include "policy/forecast.hpp"

namespace halcyon::predict {

namespace {

constexpr float decay = 1.0f / 16;
constexpr int none = -1;
/// After so many transformations a sequence has a pattern, or it costs more than it says.
constexpr uint32_t patience = 256;
constexpr float least_told = 0.05f;
constexpr float told_decay = 1.0f / 128;
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

const offset_table::transformation* offset_table::numbered(int number) const {
    if (number < 0) return nullptr;
    if (transformations_ == nullptr) return number == 0 ? &first_ : nullptr;
    return static_cast<uint32_t>(number) < transformation_count_ ? &transformations_[number] : nullptr;
}

int64_t offset_table::next(const offset_places& places, uint64_t walk) const {
    if (!learnt_) return policy::not_known;
    const int base = best_habit(places);
    const float habit_luck = base == none ? -1 : habits_[base].luck;
    const transformation* const said = too_many_ ? nullptr : numbered(sequence_.next_on(walk));
    if (said != nullptr && sequence_.luck() >= habit_luck) {
        if (const int64_t offset = applied(*said, places); offset >= 0) return offset;
    }
    // What the thesis falls back to: consecutive.
    if (places.at[to_end] >= 0 && consecutive_luck_ > habit_luck) return places.at[to_end];
    if (base == none) return places.at[to_end] < 0 ? 0 : places.at[to_end];
    return places.at[base] + habits_[base].distance;
}

void offset_table::habit::learn(int64_t observed) {
    if (!known) {
        distance = last = observed;
        known = true;
        return;
    }
    luck += ((distance == observed ? 1 : 0) - luck) * decay;
    if (last == observed) distance = observed;
    last = observed;
}

void offset_table::learn(const offset_places& places, int64_t offset, const limits& cut_off,
                         calls::memory_bound& memory) {
    learn_transformation(places, offset, cut_off, memory);
    if (places.at[to_end] >= 0)
        consecutive_luck_ += ((places.at[to_end] == offset ? 1 : 0) - consecutive_luck_) * decay;
    for (uint32_t i = 0; i < offset_bases; ++i) {
        if (places.at[i] >= 0) habits_[i].learn(offset - places.at[i]);
    }
    learnt_ = true;
}

offset_table::transformation::transformation(const offset_places& places, int64_t offset) {
    for (uint32_t i = 0; i < offset_bases; ++i) {
        if (places.at[i] < 0) continue;
        distance[i] = offset - places.at[i];
        bases |= 1u << i;
    }
}

uint32_t offset_table::transformation::explains(const offset_places& places, int64_t offset) const {
    uint32_t result = 0;
    for (uint32_t i = 0; i < offset_bases; ++i) {
        if ((bases >> i & 1) != 0 && places.at[i] >= 0 && places.at[i] + distance[i] == offset) result |= 1u << i;
    }
    return result;
}

/// By the one of its bases whose distance stays the same most often elsewhere, too; -1: none of them is known here.
int64_t offset_table::applied(const transformation& said, const offset_places& places) const {
    int chosen = none;
    for (uint32_t i = 0; i < offset_bases; ++i) {
        if ((said.bases >> i & 1) == 0 || places.at[i] < 0 || places.at[i] + said.distance[i] < 0) continue;
        if (chosen == none || habits_[i].luck > habits_[chosen].luck) chosen = static_cast<int>(i);
    }
    return chosen == none ? -1 : places.at[chosen] + said.distance[chosen];
}

int offset_table::explained_by(const offset_places& places, int64_t offset, int predicted) const {
    if (!learnt_) return none;
    const transformation* const said = numbered(predicted);
    if (said != nullptr && said->explains(places, offset) != 0) return predicted;
    if (transformations_ == nullptr) return first_.explains(places, offset) != 0 ? 0 : none;
    int chosen = none;
    for (uint32_t i = 0; i < transformation_count_; ++i) {
        if (transformations_[i].explains(places, offset) == 0) continue;
        if (chosen == none || transformations_[i].uses > transformations_[chosen].uses) chosen = static_cast<int>(i);
    }
    return chosen;
}

/// The number of a new transformation: one that is free; `other`, and then it takes the place of another one which came
/// once, so that it has a number the next time.
uint32_t offset_table::keep(const transformation& made, const limits& cut_off, calls::memory_bound& memory) {
    if (!learnt_) {
        first_ = made;
        return 0;
    }
    if (transformations_ == nullptr) {
        if (!take_transformations(memory)) return other;
        transformations_[0] = first_;
        transformation_count_ = 1;
    }
    if (transformation_count_ < std::min(cut_off.distinct_values, limits::most_values)) {
        transformations_[transformation_count_] = made;
        return transformation_count_++;
    }
    for (uint32_t i = 0; i < transformation_count_; ++i) {
        const uint32_t at = (next_victim_ + i) % transformation_count_;
        if (transformations_[at].uses > 1) continue;
        next_victim_ = at + 1;
        transformations_[at] = made;
        transformations_[at].uses = 1;
        break;
    }
    return other;
}

void offset_table::learn_transformation(const offset_places& places, int64_t offset, const limits& cut_off,
                                        calls::memory_bound& memory) {
    if (too_many_) return;
    const int known = explained_by(places, offset, sequence_.next());
    const uint32_t number = known == none ? keep({places, offset}, cut_off, memory) : static_cast<uint32_t>(known);
    if (number != other) {
        transformation& taken = transformations_ == nullptr ? first_ : transformations_[number];
        taken.bases = taken.explains(places, offset);
        ++taken.uses;
    }
    const int said = sequence_.next();
    told_ += ((numbered(said) != nullptr && static_cast<uint32_t>(said) == number ? 1.0f : 0.0f) - told_) * told_decay;
    ++observed_;
    const bool without_pattern = observed_ > patience && told_ < least_told;
    if (!sequence_.learn(number, memory) || without_pattern) give_up_transformations(memory);
}

bool offset_table::take_transformations(calls::memory_bound& memory) {
    transformations_ = static_cast<transformation*>(memory.take(limits::most_values * sizeof(transformation)));
    return transformations_ != nullptr;
}

void offset_table::give_up_transformations(calls::memory_bound& memory) {
    sequence_.release(memory);
    memory.give_back(transformations_, limits::most_values * sizeof(transformation));
    transformations_ = nullptr;
    transformation_count_ = 0;
    too_many_ = true;
}

void offset_table::release(calls::memory_bound& memory) {
    give_up_transformations(memory);
    *this = {};
}

}  // namespace halcyon::predict
