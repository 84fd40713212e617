#pragma once

namespace halcyon::coordinate {

/// Begin of a phase, in which caches take bytes faster than the storage does.
inline constexpr double caches_fill_s = 0.1;

}  // namespace halcyon::coordinate
