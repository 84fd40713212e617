#pragma once

#include <cstdint>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// In the marker: who has the container open has a shared lock of this byte. Who removes it, or puts a plain file in
/// its place, needs the exclusive one for the moment in which the container loses its name and its marker.
inline constexpr int64_t open_place = INT64_MAX - 4096;

/// Says to others that this process has the container open: a descriptor, to be closed when it has it no more. A forked
/// child has it open, too, until it closes the descriptor. `marker`: container::access_name().
///
/// -ESTALE: the container was removed or replaced by the time. Where a file system has no such locks, nobody is kept
/// from anything, and the descriptor says nothing.
int say_open(file_calls& calls, int directory, const char* marker);
/// Takes it back, before the descriptor is closed: also for children that were forked off and still have it.
void say_closed(file_calls& calls, int fd);

/// Keeps the container to this process for a moment: nobody has it open, and who would open it waits until `fd` is
/// closed, and then finds that the marker is gone, or goes on. `fd`: of the marker, open for reading and writing.
/// -EAGAIN: somebody has it open; another -errno: the file system has no such locks.
int keep_alone(file_calls& calls, int fd);

}  // namespace halcyon::logfs
