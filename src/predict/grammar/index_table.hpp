#pragma once

#include <cstring>
#include <initializer_list>

#include "calls/memory/memory_bound.hpp"
#include "predict/grammar/index.hpp"

namespace halcyon::predict {

/// Mixes all bits of a word into all others.
constexpr uint64_t mixed(uint64_t word) {
    word ^= word >> 32;
    word *= 0xD6E8FEB86659FD93u;
    word ^= word >> 32;
    word *= 0xD6E8FEB86659FD93u;
    return word ^ word >> 32;
}

/// A set of indices, found by a hash of what they stand for: open addressing, one step at a time. A slot has four
/// bytes: the index and eight bits of the hash, so that what lies behind a wrong index is touched once in 256 times.
/// Any number of slots will do, not only powers of two, so that the memory bound can be used up.
class index_table {
  public:
    explicit index_table(calls::memory_bound& bound) : bound_(bound) {}
    ~index_table() { bound_.give_back(slots_, bytes(capacity_)); }
    index_table(const index_table&) = delete;
    index_table& operator=(const index_table&) = delete;

    [[nodiscard]] uint32_t size() const { return live_; }

    /// The index with this hash for which `is_it(index)` holds, or `nothing`.
    template <class Is>
    [[nodiscard]] uint32_t find(uint64_t hash, Is is_it) const {
        if (capacity_ == 0) return nothing;
        const uint32_t tag = tag_of(hash);
        for (uint32_t i = home(hash); slots_[i] != empty; i = after(i)) {
            if ((slots_[i] & ~index_mask) == tag && (slots_[i] & index_mask) != nothing &&
                is_it(slots_[i] & index_mask))
                return slots_[i] & index_mask;
        }
        return nothing;
    }

    /// `index` must not be in it. `hash_of(index)` is asked when it grows. False when it cannot.
    template <class HashOf>
    [[nodiscard]] bool insert(uint64_t hash, uint32_t index, HashOf hash_of) {
        if ((live_ + dead_ + 1) > capacity_ / 4 * 3 && !rebuild(hash_of)) return false;
        uint32_t i = home(hash);
        while ((slots_[i] & index_mask) != nothing) i = after(i);
        if (slots_[i] == dead) --dead_;
        slots_[i] = tag_of(hash) | index;
        ++live_;
        return true;
    }

    /// Room for so many, of a table that is empty.
    [[nodiscard]] bool reserve(uint32_t most) {
        constexpr uint32_t largest = nothing;  // no index is larger
        if (most >= largest) return false;
        auto* slots = static_cast<uint32_t*>(bound_.take(bytes(most + most / 2 + 32)));
        if (slots == nullptr) return false;
        move_to(slots, most + most / 2 + 32, [](uint32_t) { return uint64_t{0}; });
        return true;
    }

    /// `index` must be in it.
    void erase(uint64_t hash, uint32_t index) {
        const uint32_t i = slot_of(hash, index);
        --live_;
        if (slots_[after(i)] != empty) {
            slots_[i] = dead;
            ++dead_;
            return;
        }
        slots_[i] = empty;
        for (uint32_t j = before(i); slots_[j] == dead; j = before(j)) {
            slots_[j] = empty;
            --dead_;
        }
    }

    /// `index` must be in it; `other` stands for the same.
    void replace(uint64_t hash, uint32_t index, uint32_t other) { slots_[slot_of(hash, index)] = tag_of(hash) | other; }

    void prefetch(uint64_t hash) const {
        if (capacity_ != 0) __builtin_prefetch(&slots_[home(hash)]);
    }

  private:
    static constexpr uint32_t empty = nothing;
    static constexpr uint32_t dead = 1u << index_bits | nothing;

    static size_t bytes(uint32_t slots) { return size_t{slots} * sizeof(uint32_t); }
    static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash) << index_bits; }
    [[nodiscard]] uint32_t home(uint64_t hash) const { return static_cast<uint32_t>((hash >> 32) * capacity_ >> 32); }
    [[nodiscard]] uint32_t after(uint32_t i) const { return i + 1 == capacity_ ? 0 : i + 1; }
    [[nodiscard]] uint32_t before(uint32_t i) const { return i == 0 ? capacity_ - 1 : i - 1; }
    [[nodiscard]] uint32_t slot_of(uint64_t hash, uint32_t index) const {
        uint32_t i = home(hash);
        while (slots_[i] != (tag_of(hash) | index)) i = after(i);
        return i;
    }

    /// Twice as many slots as are in use, as far as the bound allows; the dead ones are gone then.
    template <class HashOf>
    bool rebuild(HashOf hash_of) {
        for (const uint32_t wanted : {live_ * 2 + 32, live_ + live_ / 2 + 32}) {
            auto* slots = static_cast<uint32_t*>(bound_.take(bytes(wanted)));
            if (slots == nullptr) continue;
            move_to(slots, wanted, hash_of);
            return true;
        }
        return false;
    }

    template <class HashOf>
    void move_to(uint32_t* slots, uint32_t capacity, HashOf hash_of) {
        uint32_t* old = slots_;
        const uint32_t old_capacity = capacity_;
        slots_ = slots;
        capacity_ = capacity;
        dead_ = 0;
        for (uint32_t i = 0; i < capacity; ++i) slots_[i] = empty;
        for (uint32_t i = 0; i < old_capacity; ++i) {
            if ((old[i] & index_mask) == nothing) continue;
            uint32_t at = home(hash_of(old[i] & index_mask));
            while (slots_[at] != empty) at = after(at);
            slots_[at] = old[i];
        }
        bound_.give_back(old, bytes(old_capacity));
    }

    calls::memory_bound& bound_;
    uint32_t* slots_ = nullptr;
    uint32_t capacity_ = 0;
    uint32_t live_ = 0;
    uint32_t dead_ = 0;
};

}  // namespace halcyon::predict
