#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// What the processes of a job on one node may do at a file system: a word of their page (page.hpp), which they read
/// before each call. Its upper bits count changes, so that a process that slept knows that there was one.
///
/// All zeros is `closed`: a page without an agent holds nobody back.
enum class permission : uint32_t {
    closed,    ///< the agent is gone: I/O goes on unasked
    unasked,   ///< the coordinator does not answer: likewise
    allowed,   ///< the application has the turn, and a lease
    standing,  ///< nobody else wants the storage: the next phase may begin under the lease without waiting
    waiting,   ///< it is somebody else's turn
    hold,      ///< the lease is called back, and the round before which all stop is not known yet: no call begins
    stop,      ///< calls of rounds below `stop_round` go on, others wait
};

/// Of turn words.
namespace turn_word {

inline constexpr uint32_t holds = 1;   ///< calls wait
inline constexpr uint32_t leased = 2;  ///< calls draw on the lease
inline constexpr uint32_t state_shift = 2;
inline constexpr uint32_t state_mask = 7;
inline constexpr uint32_t one_change = 1U << 5U;

constexpr uint32_t of(permission state) {
    const bool waits = state == permission::waiting || state == permission::hold || state == permission::stop;
    const bool draws = state == permission::allowed || state == permission::standing;
    return static_cast<uint32_t>(state) << state_shift | (waits ? holds : 0) | (draws ? leased : 0);
}
constexpr permission state(uint32_t word) {
    return static_cast<permission>(word >> state_shift & state_mask);
}
/// The word that follows `before`.
constexpr uint32_t next(uint32_t before, permission to) {
    return (before & ~(one_change - 1)) + one_change + of(to);
}
/// The whole of *check*: the application may move bytes under a lease.
constexpr bool goes_under_lease(uint32_t word) {
    return (word & (holds | leased)) == leased;
}
static_assert(of(permission::closed) == 0);

}  // namespace turn_word
}  // namespace halcyon::coordinate
