#pragma once

#include <cstdint>

#include "calls/record/layer.hpp"

/// What the process did past us, as far as that is noticed; it is told when the process ends.
namespace halcyon::calls::unseen {

/// Set while a function of a library runs whose system calls are counted in another way.
extern constinit thread_local bool counted_apart __attribute__((tls_model("initial-exec")));

/// The process has set up a ring of io_uring. Told at once: it may be killed.
void ring_was_made();

/// It gave the kernel that many requests of libaio.
void requests_were_submitted(uint64_t more);

/// It made a system call on a file with syscall(2).
void system_call_was_made();

/// Another process had moved the position that so many transfers were believed to be at.
void position_was_moved(uint64_t transfers);

}  // namespace halcyon::calls::unseen

namespace halcyon::calls {

/// The process is about to end or to become another program: tells the layers what was not seen, then the end. Calls
/// may still follow, and another end.
void tell_end(ending how);

}  // namespace halcyon::calls
