#pragma once

#include <span>

namespace halcyon::offload {

/// Rounds the mantissa to `bits` bits (ties to even); the bits behind become zero, which lossless compression then
/// removes. Relative error at most 2^-(bits+1) for normal numbers. NaN (payload included) and infinities stay; a
/// finite value never becomes infinite: next to the largest one it is rounded towards zero. `bits` of at least the
/// mantissa's (23, 52) copies; `bits` below 0 counts as 0. `out` may be `in`.
void bitround(std::span<const float> in, std::span<float> out, int bits);
void bitround(std::span<const double> in, std::span<double> out, int bits);

}  // namespace halcyon::offload
