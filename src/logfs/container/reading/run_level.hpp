#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// Runs, found by where they are: in the order of where they begin, with a tree over groups of them that says how far
/// each group reaches.
class run_level {
  public:
    explicit run_level(memory_source& memory) : runs_(memory), reach_(memory) {}

    /// Takes the runs. False: no memory; then they are still there, perhaps in another order.
    [[nodiscard]] bool build(page_array<placed_run>& runs, memory_source& memory);

    [[nodiscard]] size_t size() const { return runs_.size(); }
    [[nodiscard]] page_array<placed_run>& runs() { return runs_; }

    /// Visits what may overlap [begin, end), by where it begins: of a pattern all from its first to its last byte.
    template <class Visit>
    bool overlapping(int64_t begin, int64_t end, Visit visit) const {
        const size_t before = first_from(end);
        return before == 0 || descend(1, 0, groups_, begin, before, visit);
    }

    /// The smallest beginning that is not before `position`; INT64_MAX: none.
    [[nodiscard]] int64_t next_low(int64_t position) const {
        const size_t found = first_from(position);
        return found < runs_.size() ? runs_[found].what.low() : INT64_MAX;
    }

  private:
    static constexpr size_t group = 8;

    [[nodiscard]] size_t first_from(int64_t low) const {
        const auto* const found = std::partition_point(runs_.begin(), runs_.end(),
                                                       [&](const placed_run& each) { return each.what.low() < low; });
        return static_cast<size_t>(found - runs_.begin());
    }

    /// The node stands for `width` groups from `first` on. Those in front of `before` begin early enough.
    template <class Visit>
    bool descend(size_t node, size_t first, size_t width, int64_t begin, size_t before, Visit& visit) const {
        if (first * group >= before || reach_[node] <= begin) return true;
        if (width > 1) {
            const size_t half = width / 2;
            return descend(2 * node, first, half, begin, before, visit) &&
                   descend(2 * node + 1, first + half, half, begin, before, visit);
        }
        const size_t last = std::min(before, (first + 1) * group);
        for (size_t i = first * group; i < last; ++i) {
            if (runs_[i].what.high() > begin && !visit(runs_[i])) return false;
        }
        return true;
    }

    page_array<placed_run> runs_;
    page_array<int64_t> reach_;  // of node i; its children are 2i and 2i + 1
    size_t groups_ = 0;          // a power of two
};

}  // namespace halcyon::logfs
