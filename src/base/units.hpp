#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace halcyon {

/// A size in bytes: `4096`, `256 MiB`, `1.5 GiB`, `10 GB`. Units: B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB,
/// TB (powers of 1000). Failure (kind config): not a number, an unknown unit, negative, not whole bytes, beyond 2^63-1.
result<int64_t> parse_bytes(std::string_view text);

/// A duration: `20 us`, `1.5s`, `0`. Units: ns, us, ms, s, min; only 0 may lack one. Failures as parse_bytes().
result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// For messages: `1.5 GiB`, `4096 B`. At most two decimals, so it may round; exact for whole units.
std::string format_bytes(int64_t bytes);

}  // namespace halcyon
