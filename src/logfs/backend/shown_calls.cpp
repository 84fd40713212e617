#include "logfs/backend/shown_calls.hpp"

#include <fcntl.h>

#include "calls/backends/kept_access.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::logfs::shown {
namespace {

namespace known_files = calls::known_files;

/// The application's descriptor of a container, by its name in the kernel. known_files would ask this backend, which
/// may be in the middle of finding out.
[[gnu::noinline]] uint32_t of_placeholder(int fd) {
    char path[512];  // stacks may be small
    const size_t length = calls::direct::path_of(fd, path, sizeof path);
    return length == 0 || length + 1 >= sizeof path ? known_files::unknown : known_files::of_path(AT_FDCWD, path);
}

}  // namespace

uint32_t file_of(int fd) {
    const uint32_t known = calls::descriptors::file_of(fd);
    if (known != known_files::unknown) return known;
    return calls::backends::kept_access(fd) >= 0 ? of_placeholder(fd) : known_files::of_descriptor(fd);
}

int close(int fd) {
    return static_cast<int>(on(call_id::log_close, fd, [=] { return int64_t{calls::direct::close(fd)}; }));
}

}  // namespace halcyon::logfs::shown
