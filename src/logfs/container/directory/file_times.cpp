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

/// In ns since 1970.
struct times_in_ns {
    int64_t as_of;
    int64_t accessed;
    int64_t modified;
};

/// As it lies in the file, little-endian. What is later than 2262, or as long before 1970, has too many ns for a
/// number: then each of the two is in seconds, and the ns beside them are in `rest`.
struct kept_times {
    times_in_ns times;
    uint32_t check;  ///< of those, and of the rest where there is one
    uint32_t is_in_seconds;
    uint32_t rest[2];
};
static_assert(has_copied_layout<kept_times, 40, 8>());
constexpr size_t without_rest = offsetof(kept_times, rest);

constexpr int64_t second_ns = 1'000'000'000;

uint32_t check_of(const kept_times& of) {
    const uint32_t check = crc32c(std::as_bytes(std::span(&of.times, 1)));
    return of.is_in_seconds == 0 ? check : crc32c(std::as_bytes(std::span(of.rest)), check);
}

bool fits_in_ns(const timespec& time) {
    constexpr int64_t most = INT64_MAX / second_ns - 1;
    return time.tv_sec >= -most && time.tv_sec <= most;
}

kept_times to_be_kept(const file_times& times) {
    kept_times kept{};
    kept.times.as_of = times.as_of_ns;
    kept.is_in_seconds = fits_in_ns(times.accessed) && fits_in_ns(times.modified) ? 0 : 1;
    const auto keep = [&](const timespec& time, int64_t& number, uint32_t& rest) {
        number = kept.is_in_seconds != 0 ? int64_t{time.tv_sec} : int64_t{time.tv_sec} * second_ns + time.tv_nsec;
        rest = kept.is_in_seconds != 0 ? static_cast<uint32_t>(time.tv_nsec) : 0;
    };
    keep(times.accessed, kept.times.accessed, kept.rest[0]);
    keep(times.modified, kept.times.modified, kept.rest[1]);
    kept.check = check_of(kept);
    return kept;
}

timespec time_of(const kept_times& kept, int64_t number, uint32_t rest) {
    if (kept.is_in_seconds != 0) return {number, static_cast<long>(rest)};
    const int64_t ns = (number % second_ns + second_ns) % second_ns;
    return {(number - ns) / second_ns, ns};
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
    const size_t whole = kept.is_in_seconds != 0 ? sizeof kept : without_rest;
    if (bytes < static_cast<int64_t>(whole) || kept.is_in_seconds > 1 || kept.check != check_of(kept)) return false;
    out.as_of_ns = kept.times.as_of;
    out.accessed = time_of(kept, kept.times.accessed, kept.rest[0]);
    out.modified = time_of(kept, kept.times.modified, kept.rest[1]);
    return true;
}

/// By one call: of two that set times at once, one wins.
result<void> write_times(container& of, const file_times& times) {
    file_calls& calls = of.calls();
    int fd = calls.open_at(of.directory(), times_name.data(), O_WRONLY, 0);
    if (fd == -ENOENT) fd = create(of);
    if (fd < 0) return of.failed(times_name, "cannot open", -fd);
    const kept_times kept = to_be_kept(times);
    const int written = write_whole(calls, fd, std::as_bytes(std::span(&kept, 1)), 0);
    const int closed = calls.close(fd);
    const int done = written != 0 ? written : closed;
    return done == 0 ? result<void>() : of.failed(times_name, "cannot write", -done);
}

}  // namespace halcyon::logfs
