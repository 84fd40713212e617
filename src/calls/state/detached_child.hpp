#pragma once

#include <cstddef>
#include <cstdint>

/// Programs that a process of an application starts to stay behind it, as base/detached_start.hpp does for programs
/// that know of Halcyon. Here nothing may be allocated by the application's malloc, no call may pass its wrappers, and
/// no child may be there that its wait() would find: so they are grandchildren (own_thread.hpp: start_child, from
/// run_in_child), made by direct system calls.
namespace halcyon::calls {

/// In the grandchild, which becomes the program: in a session of its own, with /dev/null as 0 to 2, with `ready` as the
/// descriptor by which it tells (base/detached_program.hpp) and no other. Returns the errno when it cannot.
int become_detached(int ready, const char* path, const char* const* arguments, const char* const* environment);

/// In whoever started it: what it tells at the other end, of at most `room` bytes, until then (monotonic_ns). 0: it
/// ended before; -ETIMEDOUT, or another -errno.
long hear_detached(int pipe, int64_t until_ns, char* out, size_t room);

}  // namespace halcyon::calls
