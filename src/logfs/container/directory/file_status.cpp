#include "logfs/container/directory/file_status.hpp"

#include "base/clock.hpp"
#include "logfs/container/directory/file_times.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t second_ns = 1'000'000'000;

bool is_later(const timespec& one, const timespec& other) {
    return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec : one.tv_nsec > other.tv_nsec;
}

timespec time_of(int64_t ns) {
    const int64_t rest = (ns % second_ns + second_ns) % second_ns;
    return {(ns - rest) / second_ns, rest};
}

/// A time as utimensat() takes it.
timespec wanted_time(const timespec& wanted, const timespec& before) {
    if (wanted.tv_nsec == UTIME_NOW) return time_of(realtime_ns());
    return wanted.tv_nsec == UTIME_OMIT ? before : wanted;
}

/// Whether this process may set the times: the kernel says it of the marker, whose own times stay. Its time of change
/// becomes now, as the file's does.
int ask_kernel(const container& of, const struct stat& now, const timespec times[2]) {
    const bool sets_no_other = times[0].tv_nsec == UTIME_NOW && times[1].tv_nsec == UTIME_NOW;
    const timespec as_it_was[2] = {now.st_atim, {0, UTIME_OMIT}};
    return of.calls().set_times_at(of.directory(), of.access_name(), sets_no_other ? times : as_it_was);
}

}  // namespace

result<void> read_status(const container& of, const written_state& written, struct stat& out) {
    struct stat marker {};
    struct stat directory {};
    if (const int done = of.calls().status_at(of.directory(), of.access_name(), marker); done != 0)
        return of.failed(of.access_name(), "cannot be looked at", -done);
    if (const int done = of.calls().status(of.directory(), directory); done != 0)
        return of.failed({}, "cannot be looked at", -done);
    out = marker;
    out.st_dev = directory.st_dev;
    out.st_ino = directory.st_ino;
    out.st_mode = S_IFREG | (marker.st_mode & 07777);
    out.st_nlink = 1;
    out.st_size = written.bytes;
    out.st_blocks = (written.bytes + 511) / 512;
    if (written.latest_ns > 0) out.st_mtim = time_of(written.latest_ns);
    if (const timespec latest = time_of(written.latest_ns); is_later(latest, out.st_ctim)) out.st_ctim = latest;
    file_times given;
    if (!read_times(of, given)) return {};
    if (given.as_of_ns >= written.latest_ns) out.st_mtim = given.modified;
    out.st_atim = given.accessed;
    return {};
}

result<void> set_times(container& of, const written_state& written, const timespec times[2]) {
    if (auto ours = of.expect_ours(); !ours) return ours;
    if (times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT) return {};
    struct stat before {};
    if (auto looked = read_status(of, written, before); !looked) return looked;
    if (const int done = ask_kernel(of, before, times); done != 0)
        return of.failed(of.access_name(), "cannot change its times", -done);
    return write_times(
        of, {written.latest_ns, wanted_time(times[0], before.st_atim), wanted_time(times[1], before.st_mtim)});
}

}  // namespace halcyon::logfs
