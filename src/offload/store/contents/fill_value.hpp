#pragma once

#include <cstddef>
#include <vector>

#include "offload/model/model.hpp"

namespace halcyon::offload {

[[nodiscard]] inline bool is_floating(scalar_type type) {
    return type == scalar_type::float32 || type == scalar_type::float64;
}

/// What readers find where nothing was written: NaN for floating point, the lowest value for signed integers, the
/// highest for unsigned ones. Bytes of one element of `type`; `half`: of one binary16.
[[nodiscard]] std::vector<std::byte> fill_value(scalar_type type, bool half = false);

}  // namespace halcyon::offload
