#pragma once

#include <dirent.h>

/// What opendir returns for a directory of a backend. It is one of the C library's own, whose descriptor is the
/// placeholder, so that dirfd and closedir treat it as any other; only what it lists comes from the backend.
namespace halcyon::calls::directory_streams {

/// A stream over the directory that `fd` (a placeholder) stands for, which is the stream's from now on. Null, with
/// errno, where there is no room; then `fd` is closed.
DIR* open(int fd);
bool is_ours(const DIR* directory);
/// Null at the end, and where it fails, with errno.
dirent* next(DIR* directory);
/// From the beginning again.
void rewind(DIR* directory);
/// 0, or -errno.
int close(DIR* directory);

}  // namespace halcyon::calls::directory_streams
