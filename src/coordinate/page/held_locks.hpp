#pragma once

#include "coordinate/page/page.hpp"

/// Which processes of the job on this node may hold file locks, by the page. Safe within applications.
///
/// The locks that a process has inherited belong to open file descriptions. So they are given back by whichever process
/// unlocks first, and the others are told nothing. Who wants to know asks the kernel: /proc/<pid>/fdinfo shows the
/// locks of a description. Locks that it does not show, and those of which the descriptor is not known, count as held.
namespace halcyon::coordinate::held_locks {

/// Whether the kernel shows a lock of the open file description that is `fd` in the process `pid`, or cannot be asked.
/// A descriptor that is closed has none.
bool has_description_lock(int pid, int fd);

/// Whether the kernel shows a lock by any descriptor of this process, which the program before has left, or cannot be
/// asked.
bool survive_exec();

/// The program `gone` counts in this place, and its process has become another one, which may know nothing of Halcyon:
/// once the kernel shows no lock by any descriptor of the process, the locks in this place count as given back.
void look_behind_exec(process_slot& of, uint64_t gone);

bool may_hold_any(process_slot& of);
bool may_anybody_hold_any(page& shared);

}  // namespace halcyon::coordinate::held_locks
