#pragma once

#include <atomic>
#include <cstdint>

#include "coordinate/page/page.hpp"

/// What those who wait for a turn do with the page, be it in a call or between two: within the application, by direct
/// system calls.
namespace halcyon::coordinate {

/// Takes bytes from the lease until those that the process has moved are covered. False: none are left for the `bytes`
/// of a call; with `must` also then true, since the call goes on in any case.
bool draw_from_lease(page& shared, shared_file_system& here, process_part& part, int64_t bytes, bool must);

/// If nothing was heard of the agent or the coordinator for too long, nobody waits any more until something is:
/// replaces the turn `word`, and counts.
bool let_go_if_silent(const page& shared, shared_file_system& here, process_part& part, uint32_t word, int64_t now_ns);

/// Sleeps while the turn is `word`, until the starvation limit of one who has waited for `waited_ns` at most. Wakes now
/// and then, for looks at locks and beats.
void sleep_on_turn(const page& shared, shared_file_system& here, uint32_t word, int64_t waited_ns);

}  // namespace halcyon::coordinate
