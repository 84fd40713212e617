#pragma once

#include <cstdint>
#include <span>

namespace halcyon::offload {

/// Converts to IEEE 754 binary16, rounding once to the nearest (ties to even) whatever the source: a double is not
/// rounded to float on its way. NaN stays NaN (quiet, with the leading payload bits), infinities and the sign of zero
/// stay. `out` holds at least as many elements as `in`.
/// Returns the number of finite values that were too large and became infinite.
int64_t to_half(std::span<const float> in, std::span<uint16_t> out);
int64_t to_half(std::span<const double> in, std::span<uint16_t> out);

/// The number that a binary16 stands for; exact.
double half_value(uint16_t half);

}  // namespace halcyon::offload
