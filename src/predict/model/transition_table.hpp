#pragma once

#include <cstdint>

#include "calls/memory/growing_array.hpp"
#include "predict/grammar/index_table.hpp"
#include "predict/tables/offset_table.hpp"
#include "predict/tables/time_table.hpp"

namespace halcyon::predict {

/// What is known of one call site following another.
struct transition {
    uint32_t from = 0;
    uint32_t to = 0;
    uint64_t count = 0;
    local_sequence files;  ///< ranks of recent_files
    offset_table offsets;
    time_table gaps;
};

/// Transitions by their ends. Number 0 is none.
class transition_table {
  public:
    static constexpr uint32_t none = 0;

    explicit transition_table(calls::memory_bound& memory) : transitions_(memory), found_(memory) {
        static_cast<void>(transitions_.push({}));
    }

    [[nodiscard]] uint32_t find(uint32_t from, uint32_t to) const {
        const uint32_t found = found_.find(
            hash_of(from, to), [&](uint32_t i) { return transitions_[i].from == from && transitions_[i].to == to; });
        return found == nothing ? static_cast<uint32_t>(none) : found;
    }
    /// Made if there is none; `none` when there is no room.
    uint32_t of(uint32_t from, uint32_t to) {
        if (const uint32_t found = find(from, to); found != none) return found;
        const uint32_t made = transitions_.size();
        transition fresh;
        fresh.from = from;
        fresh.to = to;
        if (made == 0 || made >= nothing || !transitions_.push(fresh)) return none;
        const auto hash = [&](uint32_t i) { return hash_of(transitions_[i].from, transitions_[i].to); };
        if (found_.insert(hash_of(from, to), made, hash)) return made;
        static_cast<void>(transitions_.pop());
        return none;
    }
    /// Of a new table: there will be so many transitions, with number 0. False: there is no room for them.
    [[nodiscard]] bool reserve(uint32_t most) { return transitions_.reserve(most) && found_.reserve(most); }
    [[nodiscard]] uint32_t size() const { return transitions_.size(); }
    /// Without number 0.
    [[nodiscard]] uint32_t named() const { return size() == 0 ? 0 : size() - 1; }
    transition& operator[](uint32_t i) { return transitions_[i]; }
    const transition& operator[](uint32_t i) const { return transitions_[i]; }

  private:
    static uint64_t hash_of(uint32_t from, uint32_t to) { return mixed(uint64_t{from} << 32 | to); }

    calls::growing_array<transition> transitions_;
    index_table found_;
};

}  // namespace halcyon::predict
