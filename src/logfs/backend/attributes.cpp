#include "logfs/backend/attributes.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "calls/state/direct_call.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs::attributes {
namespace {

namespace direct = calls::direct;

constexpr int64_t second_ns = 1'000'000'000;

int64_t to_ns(const timespec& time) {
    return time.tv_sec * second_ns + time.tv_nsec;
}
timespec from_ns(int64_t ns) {
    const int64_t rest = (ns % second_ns + second_ns) % second_ns;
    return {(ns - rest) / second_ns, rest};
}

/// When it was written last, as far as this process knows.
int64_t written_ns(log_node& of) {
    return of.file().reading()->latest_ns();
}

/// The time of modification stays what it is when the marker changes now.
int keep_time(log_node& of, const struct stat& marker) {
    const int64_t written = written_ns(of);
    if (written <= to_ns(marker.st_ctim)) return 0;
    timespec times[2] = {{0, UTIME_OMIT}, from_ns(written)};
    return static_cast<int>(direct::call(SYS_utimensat, of.marker(), 0, direct::address(times), 0));
}

/// Calls `change(directory, name, is_directory)` for all host directories and what is in them.
template <class Change>
void each_below(int container, Change change) {
    memory_source memory(direct_files());
    names_in(direct_files(), memory, container, ".", [&](std::string_view found) {
        const short_name name(found);
        if (found == marker_name || name.view() != found) return 0;
        uint32_t number = 0;
        const bool is_directory = parse_host_directory(found, number);
        if (is_directory) {
            const int below = direct_files().open_at(container, name.c_str(), O_RDONLY | O_DIRECTORY, 0);
            if (below >= 0) {
                names_in(direct_files(), memory, below, ".", [&](std::string_view each) {
                    const short_name inner(each);
                    if (inner.view() == each) change(below, inner.c_str(), false);
                    return 0;
                });
                direct_files().close(below);
            }
        }
        change(container, name.c_str(), is_directory);
        return 0;
    });
}

/// Who may read the file may search its directories (container::create).
mode_t directory_mode(mode_t file) {
    return 0700 | (file & 0666) | ((file & 0444) >> 2);
}

}  // namespace

int read(log_node& of, struct stat& out) {
    struct stat marker {};
    struct stat directory {};
    if (const int failed = direct_files().status(of.marker(), marker); failed != 0) return failed;
    if (const int failed = direct_files().status(of.file().of().directory(), directory); failed != 0) return failed;
    const auto size = of.file().size();
    if (!size) return error_of(size.why());
    out = {};
    out.st_dev = directory.st_dev;
    out.st_ino = directory.st_ino;
    out.st_mode = S_IFREG | (marker.st_mode & 07777);
    out.st_nlink = of.is_removed() ? 0 : 1;
    out.st_uid = marker.st_uid;
    out.st_gid = marker.st_gid;
    out.st_size = *size;
    out.st_blksize = marker.st_blksize;
    out.st_blocks = (*size + 511) / 512;
    const int64_t written = written_ns(of);
    const int64_t changed = to_ns(marker.st_ctim);
    out.st_atim = marker.st_atim;
    out.st_mtim = written > changed ? from_ns(written) : marker.st_mtim;
    out.st_ctim = from_ns(std::max(written, changed));
    return 0;
}

int set_mode(log_node& of, mode_t mode) {
    struct stat marker {};
    if (const int failed = direct_files().status(of.marker(), marker); failed != 0) return failed;
    keep_time(of, marker);
    if (const long failed = direct::call(SYS_fchmod, of.marker(), mode & 07777); failed != 0)
        return static_cast<int>(failed);
    const int container = of.file().of().directory();
    const mode_t of_directory = directory_mode(mode);
    // What other users wrote stays as it is, where that is theirs alone to say.
    each_below(container, [&](int directory, const char* name, bool is_directory) {
        const mode_t file = 0600 | (mode & (std::strcmp(name, append_lock_name.data()) == 0 ? 0666 : 0444));
        const bool is_placeholder = std::strcmp(name, "halcyon-descriptor") == 0;
        if (!is_placeholder) direct_files().set_mode_at(directory, name, is_directory ? of_directory : file);
    });
    return static_cast<int>(direct::call(SYS_fchmod, container, of_directory));
}

int set_owner(log_node& of, uid_t user, gid_t group) {
    struct stat marker {};
    if (const int failed = direct_files().status(of.marker(), marker); failed != 0) return failed;
    keep_time(of, marker);
    if (const long failed = direct::call(SYS_fchown, of.marker(), user, group); failed != 0)
        return static_cast<int>(failed);
    const int container = of.file().of().directory();
    each_below(container, [&](int directory, const char* name, bool) {
        direct::call(SYS_fchownat, directory, direct::address(name), user, group, AT_SYMLINK_NOFOLLOW);
    });
    return static_cast<int>(direct::call(SYS_fchown, container, user, group));
}

int set_times(log_node& of, const timespec times[2]) {
    const int64_t written = written_ns(of);
    struct stat marker {};
    if (const int failed = direct_files().status(of.marker(), marker); failed != 0) return failed;
    timespec wanted[2] = {times[0], times[1]};
    if (wanted[1].tv_nsec == UTIME_OMIT && written > to_ns(marker.st_ctim)) wanted[1] = from_ns(written);
    // The kernel's clock for files is some milliseconds behind: until the marker changed later than it was written.
    constexpr int most_tries = 20;
    constexpr timespec tick{0, 1'000'000};
    for (int tries = 0; tries < most_tries; ++tries) {
        const auto failed = static_cast<int>(direct::call(SYS_utimensat, of.marker(), 0, direct::address(wanted), 0));
        if (failed != 0) return failed;
        if (direct_files().status(of.marker(), marker) != 0 || to_ns(marker.st_ctim) >= written) return 0;
        direct::call(SYS_nanosleep, direct::address(&tick), 0);
    }
    return 0;
}

}  // namespace halcyon::logfs::attributes
