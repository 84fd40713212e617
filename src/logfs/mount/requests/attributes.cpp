#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "logfs/container/directory/marking.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/mount/requests/open_file.hpp"
#include "logfs/mount/requests/request.hpp"
#include "logfs/mount/requests/status.hpp"
#include "logfs/mount/state/acting_as.hpp"

/// Requests about what a file is rather than what it holds.
namespace halcyon::logfs {
namespace {

/// The file itself, where the system takes paths only.
std::string path_of(const place& at) {
    return "/proc/self/fd/" + std::to_string(at->get());
}

void getattr(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
    mounted& in = mount_of(request);
    struct stat status {};
    if (const int failed = status_of(in, node_of(in, number), status); failed != 0)
        ::fuse_reply_err(request, failed);
    else
        ::fuse_reply_attr(request, &status, kernel_remembers_s);
}

/// As utimensat() takes them.
timespec wanted_time(const timespec& given, int wanted, int is_set, int is_now) {
    if ((wanted & is_now) != 0) return {0, UTIME_NOW};
    if ((wanted & is_set) != 0) return given;
    return {0, UTIME_OMIT};
}
std::array<timespec, 2> wanted_times(const struct stat& to, int wanted) {
    return {wanted_time(to.st_atim, wanted, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW),
            wanted_time(to.st_mtim, wanted, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW)};
}

/// A write takes off the bits that make a program run as its owner, whoever writes: the kernel says so as a change of
/// the mode.
bool takes_bits_off(mode_t before, mode_t after) {
    constexpr mode_t taken = S_ISUID | S_ISGID;
    return (before & 07777 & ~taken) == (after & 07777 & ~taken) && (after & taken & ~before) == 0;
}

int set_mode_of_plain(const place& at, const std::string& path, mode_t mode) {
    if (::chmod(path.c_str(), mode) == 0) return 0;
    const int failed = errno;
    struct stat now {};
    if (failed != EPERM || ::fstatat(at->get(), "", &now, AT_EMPTY_PATH) != 0 || !S_ISREG(now.st_mode)) return failed;
    if (!takes_bits_off(now.st_mode, mode)) return failed;
    const acting_as itself(nullptr);
    return ::chmod(path.c_str(), mode) == 0 ? 0 : errno;
}

/// As the program.
int change_plain(fuse_req_t request, const place& at, const struct stat& to, int wanted, const fuse_file_info* info) {
    const acting_as program(caller_of(request, mount_of(request).options.is_for_all_users));
    const std::string path = path_of(at);
    const int fd = info != nullptr ? open_file_of(info).plain.get() : -1;
    if ((wanted & FUSE_SET_ATTR_MODE) != 0) {
        if (const int failed = set_mode_of_plain(at, path, to.st_mode & 07777); failed != 0) return failed;
    }
    if ((wanted & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0) {
        const uid_t user = (wanted & FUSE_SET_ATTR_UID) != 0 ? to.st_uid : static_cast<uid_t>(-1);
        const gid_t group = (wanted & FUSE_SET_ATTR_GID) != 0 ? to.st_gid : static_cast<gid_t>(-1);
        if (::fchownat(at->get(), "", user, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) return errno;
    }
    if ((wanted & FUSE_SET_ATTR_SIZE) != 0) {
        const int done = fd >= 0 ? ::ftruncate(fd, to.st_size) : ::truncate(path.c_str(), to.st_size);
        if (done != 0) return errno;
    }
    if ((wanted & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)) == 0) return 0;
    return ::utimensat(AT_FDCWD, path.c_str(), wanted_times(to, wanted).data(), 0) == 0 ? 0 : errno;
}

result<void> set_mode(shared_file& of, mode_t mode) {
    auto done = of.set_mode(mode);
    struct stat now {};
    if (done.ok() || done.why().system_errno != EPERM || !of.status(INT64_MAX, now)) return done;
    if (!takes_bits_off(now.st_mode, mode)) return done;
    const acting_as owner = of.owner();
    return of.set_mode(mode);
}

/// Mode and owner as the program.
result<void> change(shared_file& of, const struct stat& to, int wanted) {
    result<void> done;
    if ((wanted & FUSE_SET_ATTR_MODE) != 0) done = set_mode(of, to.st_mode & 07777);
    if (done.ok() && (wanted & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0) {
        done = of.set_owner((wanted & FUSE_SET_ATTR_UID) != 0 ? to.st_uid : static_cast<uid_t>(-1),
                            (wanted & FUSE_SET_ATTR_GID) != 0 ? to.st_gid : static_cast<gid_t>(-1));
    }
    if (done.ok() && (wanted & FUSE_SET_ATTR_SIZE) != 0) done = of.resize(to.st_size);
    if (done.ok() && (wanted & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)) != 0)
        done = of.set_times(wanted_times(to, wanted).data());
    return done;
}

int change_container(fuse_req_t request, node& of, const place& at, const struct stat& to, int wanted) {
    mounted& in = mount_of(request);
    const auto file = take(in, of, at);
    if (!file) return noted(in, file.why());
    const acting_as program(caller_of(request, in.options.is_for_all_users));
    const auto done = with_room(in, [&] { return change(**file, to, wanted); });
    return done ? 0 : noted(in, done.why());
}

void setattr(fuse_req_t request, fuse_ino_t number, struct stat* to, int wanted, fuse_file_info* info) {
    mounted& in = mount_of(request);
    node& of = node_of(in, number);
    place at;
    int failed = of.kind() == node_kind::about ? EPERM : in.nodes.at(of, at);
    if (failed == 0)
        failed = of.is_container() ? change_container(request, of, at, *to, wanted)
                                   : change_plain(request, at, *to, wanted, info);
    struct stat status {};
    if (failed == 0) failed = status_of(in, of, status);
    if (failed == 0)
        ::fuse_reply_attr(request, &status, kernel_remembers_s);
    else
        ::fuse_reply_err(request, failed);
}

void statfs(fuse_req_t request, fuse_ino_t number) {
    mounted& in = mount_of(request);
    node& of = node_of(in, number);
    place at;
    int failed = in.nodes.at(of.kind() == node_kind::about ? in.nodes.root() : of, at);
    struct statvfs found {};
    if (failed == 0 && ::fstatvfs(at->get(), &found) != 0) failed = errno;
    if (failed == 0)
        ::fuse_reply_statfs(request, &found);
    else
        ::fuse_reply_err(request, failed);
}

/// What has the extended attributes of a node: of a container, the file that has its mode, whose descriptor is kept.
struct with_attributes {
    place at;
    descriptor marker;
    std::string path;
};

int look(mounted& in, fuse_ino_t number, with_attributes& out) {
    node& of = node_of(in, number);
    if (of.kind() == node_kind::about) return ENOTSUP;
    if (const int failed = in.nodes.at(of, out.at); failed != 0) return failed;
    int fd = out.at->get();
    if (of.is_container()) {
        const bool is_plfs = marking_of(kernel_files(), fd, ".") == marking::plfs;
        const char* const name = (is_plfs ? plfs_access_name : marker_name).data();
        constexpr int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
        if (const int failed = open_with_room(in, out.marker, [&] { return ::openat(fd, name, flags); }); failed != 0)
            return failed;
        fd = out.marker.get();
    }
    out.path = "/proc/self/fd/" + std::to_string(fd);
    struct stat status {};
    if (::fstatat(fd, "", &status, AT_EMPTY_PATH) != 0) return errno;
    return S_ISLNK(status.st_mode) ? ENOTSUP : 0;
}

/// `change(path)` as the system's calls do, as the program.
template <class Change>
void change_attribute(fuse_req_t request, fuse_ino_t number, Change change) {
    mounted& in = mount_of(request);
    with_attributes of;
    int failed = look(in, number, of);
    if (failed == 0) {
        const acting_as program(caller_of(request, in.options.is_for_all_users));
        if (change(of.path.c_str()) != 0) failed = errno;
    }
    ::fuse_reply_err(request, failed);
}

/// `read(path, room, bytes)` likewise; without room the program asks how much it needs.
template <class Read>
void read_attribute(fuse_req_t request, fuse_ino_t number, size_t bytes, Read read) {
    mounted& in = mount_of(request);
    with_attributes of;
    int failed = look(in, number, of);
    std::vector<char> room(failed == 0 ? bytes : 0);
    ssize_t found = -1;
    if (failed == 0) {
        const acting_as program(caller_of(request, in.options.is_for_all_users));
        found = read(of.path.c_str(), room.data(), room.size());
        if (found < 0) failed = errno;
    }
    if (failed != 0)
        ::fuse_reply_err(request, failed);
    else if (bytes == 0)
        ::fuse_reply_xattr(request, static_cast<size_t>(found));
    else
        ::fuse_reply_buf(request, room.data(), static_cast<size_t>(found));
}

void set_attribute(fuse_req_t request, fuse_ino_t number, const char* name, const char* value, size_t bytes,
                   int flags) {
    change_attribute(request, number, [&](const char* path) { return ::setxattr(path, name, value, bytes, flags); });
}

void remove_attribute(fuse_req_t request, fuse_ino_t number, const char* name) {
    change_attribute(request, number, [&](const char* path) { return ::removexattr(path, name); });
}

void get_attribute(fuse_req_t request, fuse_ino_t number, const char* name, size_t bytes) {
    read_attribute(request, number, bytes,
                   [&](const char* path, char* room, size_t size) { return ::getxattr(path, name, room, size); });
}

void list_attributes(fuse_req_t request, fuse_ino_t number, size_t bytes) {
    read_attribute(request, number, bytes,
                   [](const char* path, char* room, size_t size) { return ::listxattr(path, room, size); });
}

}  // namespace

void add_attribute_requests(fuse_lowlevel_ops& to, const mount_options& options) {
    to.getattr = safely<getattr>::call;
    to.setattr = safely<setattr>::call;
    to.statfs = safely<statfs>::call;
    // Where there are none, the kernel asks once; else it asks for security.capability before each write.
    if (!options.shows_extended_attributes) return;
    to.setxattr = safely<set_attribute>::call;
    to.getxattr = safely<get_attribute>::call;
    to.listxattr = safely<list_attributes>::call;
    to.removexattr = safely<remove_attribute>::call;
}

}  // namespace halcyon::logfs
