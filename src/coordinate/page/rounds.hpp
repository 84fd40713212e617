#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// Where an application can be stopped so that no collective call is split. The k-th transfer of an aggregator under
/// its n-th collective call of MPI-IO is round n << 32 | k; all processes that make the same collective calls count
/// them alike. Transfers of a process on its own account have no round: it stops at the next one.
namespace rounds {

/// What the agents say as the highest round where nobody is in a collective call: stops at once are of round 1.
inline constexpr uint64_t none = 0;

constexpr uint64_t of(uint64_t collective, uint64_t transfer) {
    return collective << 32U | transfer;
}

}  // namespace rounds
}  // namespace halcyon::coordinate
