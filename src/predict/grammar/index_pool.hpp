#pragma once

#include "calls/memory/growing_array.hpp"
#include "predict/grammar/index.hpp"

namespace halcyon::predict {

/// Entries named by their index, which stays the same while the array grows; freed ones are used again, the last one
/// first. T links freed entries: next_free(), and set_free(next) which also makes the entry look freed.
template <class T>
class index_pool {
  public:
    explicit index_pool(calls::memory_bound& bound) : entries_(bound) {}

    T& operator[](uint32_t i) { return entries_[i]; }
    const T& operator[](uint32_t i) const { return entries_[i]; }

    /// `nothing` when there is no room.
    [[nodiscard]] uint32_t allocate() {
        if (free_ != nothing) {
            const uint32_t i = free_;
            free_ = entries_[i].next_free();
            ++used_;
            return i;
        }
        const uint32_t i = entries_.size();
        if (i >= nothing || !entries_.push(T::fresh(i))) return nothing;
        ++used_;
        return i;
    }
    void release(uint32_t i) {
        entries_[i].set_free(free_);
        free_ = i;
        --used_;
    }

    [[nodiscard]] uint32_t used() const { return used_; }
    /// One more than the largest index that was ever in use.
    [[nodiscard]] uint32_t end() const { return entries_.size(); }

  private:
    calls::growing_array<T> entries_;
    uint32_t free_ = nothing;
    uint32_t used_ = 0;
};

}  // namespace halcyon::predict
