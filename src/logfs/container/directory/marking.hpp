#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// How a marker is opened: what else has its name may be a link, or a pipe that nobody writes to.
inline constexpr int marker_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/// What makes a directory a container.
enum class marking : uint8_t { none, ours, plfs };

/// Of the directory `folder` below `directory` (AT_FDCWD, or a descriptor).
///
/// A marker is a plain file. One of ours begins as markers do; where it does not, it is a marker that was damaged, if
/// there are parts of a container beside it. Anything else of that name is the user's: a directory, a link, another
/// text. What this process may not read is a marker.
[[nodiscard]] marking marking_of(file_calls& calls, int directory, std::string_view folder);

/// Likewise, for who opens it as a container next if it looks like one: container::open() then says whether it is
/// (EISDIR). What has the name of a marker of ours is not read.
[[nodiscard]] marking likely_marking_of(file_calls& calls, int directory, std::string_view folder);

}  // namespace halcyon::logfs
