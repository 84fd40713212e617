#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "calls/state/direct_call.hpp"
#include "calls/wrappers/operations/operation.hpp"

/// As operation.hpp: what asks about files, and changes names and attributes.
namespace halcyon::calls::operations {

// --- asking about files ---

template <bool follow>
struct stats {
    static int64_t of(const owned_file& file, int, void* out) {
        struct stat found {};
        const int failed = file.backend().stat(file.opened(), found);
        if (failed == 0) std::memcpy(out, &found, sizeof found);
        return failed;
    }
    static int64_t at(file_backend& of, const char* path, void* out) {
        struct stat found {};
        const int failed = of.stat_path(path, follow, found);
        if (failed == 0) std::memcpy(out, &found, sizeof found);
        return failed;
    }
    static int64_t at(file_backend& of, const char* path, void* out, int flags) {
        return (flags & AT_SYMLINK_NOFOLLOW) != 0 ? stats<false>::at(of, path, out) : stats<true>::at(of, path, out);
    }
};
using stat_path = path<stats<true>>;
using stat_link = path<stats<false>>;
using stat_path_from = path_from<stats<true>>;
using stat_descriptor = descriptor<stats<true>>;
using stat_path_versioned = after_version<stat_path>;
using stat_link_versioned = after_version<stat_link>;
using stat_path_from_versioned = after_version<stat_path_from>;
using stat_descriptor_versioned = after_version<stat_descriptor>;

struct stats_extended {
    static int64_t at(file_backend& of, const char* path, int flags, unsigned, void* out) {
        struct stat found {};
        if (const int failed = of.stat_path(path, (flags & AT_SYMLINK_NOFOLLOW) == 0, found); failed != 0)
            return failed;
        struct statx told {};
        told.stx_mask = STATX_BASIC_STATS;
        told.stx_blksize = static_cast<uint32_t>(found.st_blksize);
        told.stx_nlink = static_cast<uint32_t>(found.st_nlink);
        told.stx_uid = found.st_uid;
        told.stx_gid = found.st_gid;
        told.stx_mode = static_cast<uint16_t>(found.st_mode);
        told.stx_ino = found.st_ino;
        told.stx_size = static_cast<uint64_t>(found.st_size);
        told.stx_blocks = static_cast<uint64_t>(found.st_blocks);
        const auto time_of = [](const timespec& from) {
            struct statx_timestamp to {};
            to.tv_sec = from.tv_sec;
            to.tv_nsec = static_cast<uint32_t>(from.tv_nsec);
            return to;
        };
        told.stx_atime = time_of(found.st_atim);
        told.stx_mtime = time_of(found.st_mtim);
        told.stx_ctime = time_of(found.st_ctim);
        told.stx_dev_major = static_cast<uint32_t>(found.st_dev >> 8 & 0xfff);
        told.stx_dev_minor = static_cast<uint32_t>(found.st_dev & 0xff);
        std::memcpy(out, &told, sizeof told);
        return 0;
    }
};
using stat_extended = path_from<stats_extended>;

struct accesses {
    static int64_t at(file_backend& of, const char* path, int mode, int flags = 0) {
        return of.access(path, mode, flags);
    }
};
struct accesses_effectively {
    static int64_t at(file_backend& of, const char* path, int mode) { return of.access(path, mode, AT_EACCESS); }
};
using access_path = path<accesses>;
using access_path_effectively = path<accesses_effectively>;
using access_path_from = path_from<accesses>;

struct reads_link {
    template <class... Room>
    static int64_t at(file_backend& of, const char* path, char* out, size_t bytes, Room...) {
        return of.read_link(path, out, bytes);
    }
};
using read_link = path<reads_link>;
using read_link_from = path_from<reads_link>;

/// Of the file system that a path's file is on, which has to be there.
template <class Fill>
struct of_system {
    static int64_t of(const owned_file& file, int, void* out) { return Fill::fill(file.backend(), out); }
    static int64_t at(file_backend& of, const char* path, void* out) {
        struct stat found {};
        const int failed = of.stat_path(path, true, found);
        return failed != 0 ? failed : Fill::fill(of, out);
    }
};
struct stats_system : of_system<stats_system> {
    static int64_t fill(file_backend& of, void* out) {
        struct statfs found {};
        const int failed = of.stat_system(found);
        if (failed == 0) std::memcpy(out, &found, sizeof found);
        return failed;
    }
};
struct stats_system_of_standard : of_system<stats_system_of_standard> {
    static int64_t fill(file_backend& of, void* out) {
        struct statfs found {};
        if (const int failed = of.stat_system(found); failed != 0) return failed;
        struct statvfs told {};
        told.f_bsize = static_cast<unsigned long>(found.f_bsize);
        told.f_frsize = told.f_bsize;
        told.f_blocks = found.f_blocks;
        told.f_bfree = found.f_bfree;
        told.f_bavail = found.f_bavail;
        told.f_files = found.f_files;
        told.f_ffree = told.f_favail = found.f_ffree;
        told.f_namemax = static_cast<unsigned long>(found.f_namelen);
        constexpr unsigned long are_valid = 0x20;  // the kernel's word to the C library
        told.f_flag = static_cast<unsigned long>(found.f_flags) & ~are_valid;
        std::memcpy(&told.f_fsid, &found.f_fsid, sizeof told.f_fsid);
        std::memcpy(out, &told, sizeof told);
        return 0;
    }
};
using stat_system = path<stats_system>;
using stat_system_of = descriptor<stats_system>;
using stat_system_standard = path<stats_system_of_standard>;
using stat_system_standard_of = descriptor<stats_system_of_standard>;

/// Extended attributes: there are none.
using list_attributes = path<ignores>;
using list_attributes_of = descriptor<ignores>;

// --- names and attributes ---

struct unlinks {
    static int64_t at(file_backend& of, const char* path) { return of.unlink(path); }
    static int64_t at(file_backend& of, const char* path, int flags) {
        return (flags & AT_REMOVEDIR) != 0 ? of.remove_directory(path) : of.unlink(path);
    }
};
using unlink_path = path<unlinks>;
using unlink_path_from = path_from<unlinks>;

/// remove(3): a directory, too.
struct removes {
    static int64_t at(file_backend& of, const char* path) {
        const int done = of.unlink(path);
        return done == -EISDIR || done == -EPERM ? of.remove_directory(path) : done;
    }
};
using remove_path = path<removes>;

struct removes_directory {
    static int64_t at(file_backend& of, const char* path) { return of.remove_directory(path); }
};
using remove_directory = path<removes_directory>;

struct makes_directory {
    static int64_t at(file_backend& of, const char* path, unsigned mode) { return of.make_directory(path, mode); }
};
using make_directory = path<makes_directory>;
using make_directory_from = path_from<makes_directory>;

/// An ordinary file can be made so; pipes, sockets and devices cannot.
struct makes_node {
    static int64_t at(file_backend& of, const char* path, unsigned mode, dev_t) { return make(of, path, mode); }
    static int64_t at(file_backend& of, const char* path, unsigned mode, const dev_t*) { return make(of, path, mode); }
    static int64_t make(file_backend& of, const char* path, unsigned mode) {
        if ((mode & S_IFMT) != 0 && (mode & S_IFMT) != S_IFREG) return -EPERM;
        file_backend::handle opened = 0;
        const int failed = of.open(path, O_CREAT | O_EXCL | O_WRONLY, mode & 07777, opened);
        if (failed == 0) of.close(opened);
        return failed;
    }
};
using make_node = path<makes_node>;
using make_node_from = path_from<makes_node>;
using make_node_versioned = after_version<make_node>;
using make_node_from_versioned = after_version<make_node_from>;
using make_pipe = path<refuses<EPERM>>;
using make_pipe_from = path_from<refuses<EPERM>>;

struct renames {
    static int64_t at(file_backend& of, const char* from, const char* to, unsigned flags = 0) {
        return of.rename(from, to, flags);
    }
};
using rename_path = two_paths<renames>;
using rename_path_from = two_paths_from<renames>;

struct links {
    static int64_t at(file_backend& of, const char* from, const char* to, int = 0) { return of.link(from, to); }
};
using link_path = two_paths<links>;
using link_path_from = two_paths_from<links>;

/// The target is text; only the new name counts.
struct make_symbolic_link {
    mounted_path file;
    bool claims(const char*, const char* name) { return file.find(AT_FDCWD, name); }
    bool claims(const char*, int directory, const char* name) { return file.find(directory, name); }
    int64_t perform(const char* target, const char*) const {
        return file.backend().make_symbolic_link(target, file.path());
    }
    int64_t perform(const char* target, int, const char*) const { return perform(target, nullptr); }
};

/// Of what the path itself leads to: links have no mode of their own, as the C library says of the kernel's.
struct sets_mode_of_link {
    static int64_t at(file_backend& of, const char* path, unsigned mode) {
        struct stat found {};
        if (const int failed = of.stat_path(path, false, found); failed != 0) return failed;
        return S_ISLNK(found.st_mode) ? -EOPNOTSUPP : of.set_mode(path, mode);
    }
};
struct sets_mode {
    static int64_t of(const owned_file& file, int, unsigned mode) {
        return file.backend().set_mode(file.opened(), mode);
    }
    static int64_t at(file_backend& of, const char* path, unsigned mode) { return of.set_mode(path, mode); }
    static int64_t at(file_backend& of, const char* path, unsigned mode, int flags) {
        return (flags & AT_SYMLINK_NOFOLLOW) != 0 ? sets_mode_of_link::at(of, path, mode) : of.set_mode(path, mode);
    }
};
using set_mode = path<sets_mode>;
using set_mode_of_link = path<sets_mode_of_link>;
using set_mode_from = path_from<sets_mode>;
using set_mode_of = descriptor<sets_mode>;

template <bool follow>
struct sets_owner {
    static int64_t of(const owned_file& file, int, unsigned user, unsigned group) {
        return file.backend().set_owner(file.opened(), user, group);
    }
    static int64_t at(file_backend& of, const char* path, unsigned user, unsigned group) {
        return of.set_owner(path, follow, user, group);
    }
    static int64_t at(file_backend& of, const char* path, unsigned user, unsigned group, int flags) {
        return of.set_owner(path, (flags & AT_SYMLINK_NOFOLLOW) == 0, user, group);
    }
};
using set_owner = path<sets_owner<true>>;
using set_owner_of_link = path<sets_owner<false>>;
using set_owner_from = path_from<sets_owner<true>>;
using set_owner_of = descriptor<sets_owner<true>>;

/// From seconds (utime), microseconds (utimes) or nanoseconds (utimensat); null: now.
enum class clock_unit : uint8_t { seconds, microseconds, nanoseconds };
template <clock_unit unit, bool follow = true>
struct sets_times {
    static int64_t of(const owned_file& file, int, const void* times) {
        timespec resolved[2];
        const int failed = resolve(times, resolved);
        return failed != 0 ? failed : file.backend().set_times(file.opened(), resolved);
    }
    static int64_t at(file_backend& of, const char* path, const void* times, int flags = 0) {
        timespec resolved[2];
        const int failed = resolve(times, resolved);
        return failed != 0 ? failed : of.set_times(path, follow && (flags & AT_SYMLINK_NOFOLLOW) == 0, resolved);
    }
    static int resolve(const void* times, timespec out[2]) {
        out[0] = out[1] = {0, UTIME_NOW};
        if (times == nullptr) return 0;
        int64_t given[4] = {};
        if constexpr (unit == clock_unit::seconds) {
            int64_t two[2];
            if (!given::is_readable(times, sizeof two)) return -EFAULT;
            std::memcpy(two, times, sizeof two);
            given[0] = two[0];
            given[2] = two[1];
        } else {
            if (!given::is_readable(times, sizeof given)) return -EFAULT;
            std::memcpy(given, times, sizeof given);
        }
        constexpr int64_t units = unit == clock_unit::microseconds ? 1'000'000 : 1'000'000'000;
        for (int i = 0; i < 2; ++i) {
            const int64_t fraction = given[2 * i + 1];
            const bool is_word = fraction == UTIME_NOW || fraction == UTIME_OMIT;
            if (unit == clock_unit::nanoseconds && is_word) {
                out[i] = {0, fraction};
            } else {
                if (fraction < 0 || fraction >= units) return -EINVAL;
                out[i] = {given[2 * i], fraction * (1'000'000'000 / units)};
            }
        }
        return 0;
    }
};
using set_times_in_seconds = path<sets_times<clock_unit::seconds>>;
using set_times_in_microseconds = path<sets_times<clock_unit::microseconds>>;
using set_times_of_link_in_microseconds = path<sets_times<clock_unit::microseconds, false>>;
using set_times_in_microseconds_from = path_from<sets_times<clock_unit::microseconds>>;
using set_times_in_microseconds_of = descriptor<sets_times<clock_unit::microseconds>>;
using set_times_from = path_from<sets_times<clock_unit::nanoseconds>>;
using set_times_of = descriptor<sets_times<clock_unit::nanoseconds>>;

/// The kernel cannot have such a working directory; the process keeps it itself.
struct change_directory {
    mounted_path file;
    bool claims(const char* name) { return file.find_next_working_directory(name); }
    int64_t perform(const char*) { return file.become_working_directory(); }
};
struct change_directory_of {
    owned_file file;
    bool claims(int fd) {
        file = backends::owner_of(fd);
        return file || backends::working_directory(nullptr) > 0;
    }
    int64_t perform(int fd) const {
        if (file) {
            struct stat found {};
            if (const int failed = file.backend().stat(file.opened(), found); failed != 0) return failed;
            return S_ISDIR(found.st_mode) ? backends::change_working_directory(fd) : -ENOTDIR;
        }
        const long done = direct::call(SYS_fchdir, fd);
        if (done == 0) backends::left_working_directory();
        return done;
    }
};
struct tell_directory {
    static bool claims(const char*, size_t, size_t = 0) { return backends::working_directory(nullptr) > 0; }
    static char* perform(char* out, size_t room, size_t = 0) {
        char path[PATH_MAX];
        const size_t length = backends::working_directory(path);
        if (room <= length && (out != nullptr || room != 0)) {
            errno = room == 0 ? EINVAL : ERANGE;
            return nullptr;
        }
        // As the C library: the caller frees it.
        char* const told = out != nullptr ? out : static_cast<char*>(std::malloc(room == 0 ? length + 1 : room));
        if (told != nullptr) std::memcpy(told, path, length + 1);
        return told;
    }
};
struct tell_directory_anew {
    static bool claims() { return backends::working_directory(nullptr) > 0; }
    static char* perform() { return tell_directory::perform(nullptr, 0); }
};

}  // namespace halcyon::calls::operations
