#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "offload/model/extents.hpp"

namespace halcyon::offload {

/// A part of an array: `count` elements in each dimension, from `start` on. Boxes that are compared have equal ranks.
struct box {
    extents start, count;
    friend bool operator==(const box& a, const box& b) { return a.start == b.start && a.count == b.count; }
};

/// Whether an element belongs to both. Boxes of rank 0 hold the one element there is.
[[nodiscard]] bool overlap(const box& a, const box& b);

/// Appends to `left` what is left of `from` without `hole`: at most two boxes for each dimension.
void subtract(box from, const box& hole, std::vector<box>& left);

/// What no box covers.
struct uncovered_part {
    int64_t elements = 0;  ///< exact
    box large;             ///< a box of them that cannot be made longer; there may be larger ones
};
/// What of `whole` is in none of `boxes`, which may overlap and go beyond it. Takes about n log² n for n boxes that
/// divide it, with holes or without.
[[nodiscard]] uncovered_part find_uncovered(const box& whole, std::span<const box> boxes);

/// Indices of two boxes that overlap, none of them empty. nullopt when there are no such two.
[[nodiscard]] std::optional<std::pair<size_t, size_t>> find_overlap(std::span<const box> boxes);

}  // namespace halcyon::offload
