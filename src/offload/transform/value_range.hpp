#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Bounds of the values of a block: `min` ≤ v ≤ `max` for every v that is not NaN. Both are NaN when there is none.
/// 64-bit integers that a double cannot hold widen the bounds, so that the two inequalities stay true.
struct value_range {
    double min = 0;
    double max = 0;
    int64_t nan_count = 0;
};

/// `data` holds whole elements of `type`, aligned for it.
[[nodiscard]] value_range range_of(std::span<const std::byte> data, scalar_type type);

}  // namespace halcyon::offload
