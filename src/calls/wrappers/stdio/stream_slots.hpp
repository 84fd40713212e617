#pragma once

#include <stdio.h>
#include <sys/uio.h>

#include "calls/backends/backend_files.hpp"

/// How the C library's streams reach files that a backend answers for.
///
/// What a stream fills its buffer with, and where it empties it to, are calls within the C library: no symbol stands in
/// front of them. But each stream on a descriptor makes them through five slots of a table (read, write, seek, close,
/// stat; one table for bytes, one for wide characters), also those of macros such as putc_unlocked, of other libraries,
/// and those at exit. In a process that has backends, these slots lead here. Here, a backend is asked where the
/// stream's descriptor is one of its files; all others go the way that they went before.
///
/// The tables stay where they are, for the C library accepts no others. Their pages are writable for the moment in
/// which the slots are replaced. Where the tables are not as they are known to be, nothing is replaced, and streams on
/// backends' files are refused.
///
/// Runs under the lock of the stream, at times with that of the list of all streams, and until the very end of the
/// process: a backend uses no streams, and answers until then.
namespace halcyon::calls::stream_slots {

/// Null where streams reach backends' files; else why they do not.
[[nodiscard]] const char* refused();

/// Whether what a stream on this descriptor moves comes through here. It is recorded here then, as it is made.
[[nodiscard]] bool answers(int fd);

/// Writes all of it at the position, or as much as can be, and records it as a stream's transfer. How much; -1 with
/// errno: none.
ssize_t write(const backends::owned_file& file, int fd, const void* data, size_t bytes);

/// What people should know (standard_error.hpp), also where standard error is a backend's file.
void say(const char* line, int length);

/// The process is about to end: nobody asks any more whether streams could write. What they cannot is said from now on.
void expect_end();

/// What a stream's own functions set in `_flags` when a transfer fails (_IO_ERR_SEEN).
inline constexpr int error_seen = 0x20;

}  // namespace halcyon::calls::stream_slots
