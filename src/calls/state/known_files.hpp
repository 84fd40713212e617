#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string_view>

#include "calls/state/file_paths.hpp"

namespace halcyon::calls {

namespace backends {
class owned_file;
}

/// Ids of the paths that calls referred to. Bounded: of more than `capacity` paths the earliest are forgotten and get
/// another id when they come again, so that one path may have several ids (readers join them by path).
namespace known_files {

inline constexpr uint32_t capacity = 65536;
inline constexpr uint32_t unknown = 0;

/// The id of a path relative to `directory` (a descriptor, or AT_FDCWD), for calls that name their file.
/// `unknown` where the path is empty or cannot be read.
uint32_t of_path(int directory, const char* path);

/// The id of a path that was opened a moment ago: the kernel tells what it leads to, as it does for descriptors.
uint32_t of_opened_path(const char* path);

/// The id of the file behind a descriptor: asks the kernel, so not for every call.
/// `ignored` when it is no file but a socket, a pipe or the like, or lies where nobody wants to look (/proc, /sys,
/// /dev).
///
/// Where there is no /proc (after a chroot, say) the kernel tells no name. Then the path is taken that it was opened
/// by, as far as that is given, or one that is made of its device and inode.
uint32_t of_descriptor(int fd, int directory = AT_FDCWD, const char* opened_by = nullptr);
inline constexpr uint32_t ignored = UINT32_MAX;

/// Layers hear where a backend keeps the bytes of a file from now on (layer::on_places).
void placed_anew(const backends::owned_file& file);

/// In a forked child: what another thread of the parent held when it forked is nobody's now.
void after_fork();

/// The process's working directory changed.
void forget_directory();

/// The paths that ids stand for, where a layer of this process wants them (layer::wants_paths). As layers are told them
/// in on_file, and before.
file_paths& paths();

}  // namespace known_files
}  // namespace halcyon::calls
