#pragma once

#include "halcyon/io.h"

/// For languages that run handlers of signals between two steps of their own: halcyon_io_wait() and halcyon_io_join()
/// would keep these from running. Between libhalcyon-turns and halcyon._turns, which come together; no part of io.h.
extern "C" {

/// As halcyon_io_wait(). Asks `has_come(of)` each time that the wait wakes up: about every 50 ms, and behind each
/// handler of a signal that ran in this thread. Where that is not 0, the wait ends before the turn has come
/// (HALCYON_ERROR_UNAVAILABLE): the process holds no turn and asks for none. The phase stays announced, to be waited
/// for again, or released. Within `has_come` the handle is in use.
HALCYON_API int halcyon_io_wait_interruptibly(halcyon_io_handle h, int (*has_come)(void* of), void* of);

/// As halcyon_io_join(), likewise.
HALCYON_API int halcyon_io_join_interruptibly(halcyon_io_handle h, int (*has_come)(void* of), void* of);
}
