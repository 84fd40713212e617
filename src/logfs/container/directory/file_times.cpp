#include "logfs/container/directory/file_times.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <span>

#include "base/crc32c.hpp"
#include "base/shared_layout.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

/// As it lies in the file, little-endian.
struct kept_times {
    file_times times;
    uint32_t check;  ///< of those
    uint32_t padding;
};
static_assert(has_copied_layout<kept_times, 32, 8>());

uint32_t check_of(const file_times& times) {
    return crc32c(std::as_bytes(std::span(&times, 1)));
}

/// Whoever may set them may set them again, whoever did it first.
int create(container& of) {
    file_calls& calls = of.calls();
    const int fd = calls.open_at(of.directory(), times_name.data(), O_WRONLY | O_CREAT, 0666);
    if (fd < 0) return fd;
    of.share(times_name.data(), 0666);
    struct stat marker {};
    struct stat made {};
    const bool is_known = calls.status_at(of.directory(), of.access_name(), marker) == 0 && calls.status(fd, made) == 0;
    if (is_known && (marker.st_uid != made.st_uid || marker.st_gid != made.st_gid))
        static_cast<void>(calls.set_owner_at(of.directory(), times_name.data(), marker.st_uid, marker.st_gid));
    return fd;
}

}  // namespace

bool read_times(const container& of, file_times& out) {
    file_calls& calls = of.calls();
    const int fd = calls.open_at(of.directory(), times_name.data(), O_RDONLY, 0);
    if (fd < 0) return false;
    kept_times kept{};
    const int64_t bytes = read_beginning(calls, fd, std::as_writable_bytes(std::span(&kept, 1)));
    calls.close(fd);
    if (bytes != static_cast<int64_t>(sizeof kept) || kept.check != check_of(kept.times)) return false;
    out = kept.times;
    return true;
}

/// By one call: of two that set times at once, one wins.
result<void> write_times(container& of, const file_times& times) {
    file_calls& calls = of.calls();
    int fd = calls.open_at(of.directory(), times_name.data(), O_WRONLY, 0);
    if (fd == -ENOENT) fd = create(of);
    if (fd < 0) return of.failed(times_name, "cannot open", -fd);
    const kept_times kept{times, check_of(times), 0};
    const int written = write_whole(calls, fd, std::as_bytes(std::span(&kept, 1)), 0);
    const int closed = calls.close(fd);
    const int done = written != 0 ? written : closed;
    return done == 0 ? result<void>() : of.failed(times_name, "cannot write", -done);
}

}  // namespace halcyon::logfs
