#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "logfs/container/files/memory_source.hpp"

namespace halcyon::logfs {

/// Levels of which each holds at least twice as many as the next, so that few hold all.
template <class Level>
class levels {
  public:
    static constexpr size_t most = 32;

    explicit levels(memory_source& memory) : levels(memory, std::make_index_sequence<most>()) {}

    [[nodiscard]] size_t size() const { return used_; }
    [[nodiscard]] bool empty() const { return used_ == 0; }
    Level& operator[](size_t i) { return all_[i]; }
    const Level& operator[](size_t i) const { return all_[i]; }
    Level* begin() { return all_.data(); }
    Level* end() { return all_.data() + used_; }
    const Level* begin() const { return all_.data(); }
    const Level* end() const { return all_.data() + used_; }

    /// The smallest one would not be twice as large as one of `count`; or, of levels that are loaded, they are too
    /// many.
    [[nodiscard]] bool must_join(size_t count) const {
        return used_ == most || (used_ > 0 && all_[used_ - 1].size() < 2 * count);
    }
    [[nodiscard]] Level& smallest() { return all_[used_ - 1]; }
    /// An empty one at the end, to be filled.
    [[nodiscard]] Level& next() { return all_[used_]; }
    void keep_next() { ++used_; }
    void drop_smallest(memory_source& memory) { all_[--used_] = Level(memory); }
    /// Forgets all.
    void release(memory_source& memory) {
        for (Level& each : all_) each = Level(memory);
        used_ = 0;
    }

  private:
    template <size_t... i>
    levels(memory_source& memory, std::index_sequence<i...>) : all_{(static_cast<void>(i), Level(memory))...} {}

    std::array<Level, most> all_;
    size_t used_ = 0;
};

}  // namespace halcyon::logfs
