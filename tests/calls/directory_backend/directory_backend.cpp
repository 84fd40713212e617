#include "calls/directory_backend/directory_backend.hpp"

#include <dirent.h>
#include <sys/file.h>

#include <cstdlib>
#include <cstring>

#include "calls/backends/report_below.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"

namespace halcyon::calls {
namespace {

// The root is "." relative to its descriptor, except where the kernel tells "/" from others.
const char* below(const char* path) {
    return path[1] == '\0' ? "." : path + 1;
}
bool is_root(const char* path) {
    return path[1] == '\0';
}
int fd_of(file_backend::handle opened) {
    return static_cast<int>(opened);
}
int number(long result) {
    return static_cast<int>(result);
}

/// One of the backend's own calls on what it has open.
template <class Call>
int64_t shown(call_id function, file_backend::handle opened, int64_t offset, int64_t bytes, Call call) {
    return report_below({function, known_files::of_descriptor(fd_of(opened)), offset, bytes}, call);
}
int64_t bytes_of(const iovec* pieces, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<int64_t>(pieces[i].iov_len);
    return sum;
}

}  // namespace

directory_backend::directory_backend(const std::string& directory) : directory_(directory) {
    char resolved[4096];
    if (realpath(directory.c_str(), resolved) != nullptr) directory_ = resolved;
    root_ = direct::open(directory_.c_str(), O_PATH | O_DIRECTORY);
}

directory_backend::~directory_backend() {
    direct::close(root_);
}

// O_APPEND would send writes at an offset to the end.
int directory_backend::open(const char* path, int flags, unsigned mode, handle& opened) {
    const std::string whole = directory_ + path;
    const uint32_t file = known_files::of_path(AT_FDCWD, whole.c_str());
    const int fd = number(report_below({call_id::log_open, file, none, none, flags}, [&] {
        return direct::call(SYS_openat, root_, direct::address(below(path)), flags & ~O_APPEND, mode);
    }));
    if (fd < 0) return fd;
    opened = static_cast<handle>(fd);
    return 0;
}
int directory_backend::adopt(uint64_t key, handle& opened) {
    opened = key;
    return direct::flags_of(fd_of(key)) < 0 ? -EBADF : 0;
}
void directory_backend::close(handle opened) {
    direct::close(fd_of(opened));
}

ssize_t directory_backend::path_of(handle opened, char* out, size_t room) {
    char text[4096];
    std::string path(text, direct::path_of(fd_of(opened), text, sizeof text));
    const std::string deleted = " (deleted)";
    if (path.size() > deleted.size() && path.compare(path.size() - deleted.size(), deleted.size(), deleted) == 0)
        return -ENOENT;
    path.erase(0, directory_.size());
    if (path.empty()) path = "/";
    if (path.size() >= room) return -ENAMETOOLONG;
    std::memcpy(out, path.c_str(), path.size() + 1);
    return static_cast<ssize_t>(path.size());
}

ssize_t directory_backend::read(handle opened, const iovec* pieces, int count, int64_t offset) {
    return shown(call_id::log_pread, opened, offset, bytes_of(pieces, count), [&] {
        return direct::call(SYS_preadv, fd_of(opened), direct::address(pieces), count, offset, offset >> 32 >> 32);
    });
}
ssize_t directory_backend::write(handle opened, const iovec* pieces, int count, int64_t offset) {
    return shown(call_id::log_pwrite, opened, offset, bytes_of(pieces, count), [&] {
        return direct::call(SYS_pwritev, fd_of(opened), direct::address(pieces), count, offset, offset >> 32 >> 32);
    });
}
// Another description of the file, with O_APPEND, tells by its position where that was.
ssize_t directory_backend::append(handle opened, const iovec* pieces, int count, int64_t& offset) {
    const std::string path = "/proc/self/fd/" + std::to_string(opened);
    const int fd = direct::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) return fd;
    const ssize_t done = shown(call_id::log_pwrite, opened, none, bytes_of(pieces, count),
                               [&] { return direct::call(SYS_writev, fd, direct::address(pieces), count); });
    if (done > 0) offset = direct::lseek(fd, 0, SEEK_CUR) - done;
    direct::close(fd);
    return done;
}

int directory_backend::stat(handle opened, struct stat& out) {
    return number(direct::call(SYS_fstat, fd_of(opened), direct::address(&out)));
}
int directory_backend::resize(handle opened, int64_t bytes) {
    return number(direct::call(SYS_ftruncate, fd_of(opened), bytes));
}
int directory_backend::reserve(handle opened, int mode, int64_t offset, int64_t bytes) {
    return number(direct::call(SYS_fallocate, fd_of(opened), mode, offset, bytes));
}
int directory_backend::sync(handle opened, bool data_only) {
    return number(shown(data_only ? call_id::log_fdatasync : call_id::log_fsync, opened, none, none,
                        [&] { return direct::call(data_only ? SYS_fdatasync : SYS_fsync, fd_of(opened)); }));
}
int directory_backend::lock(handle opened, int command, struct flock& range) {
    return number(direct::call(SYS_fcntl, fd_of(opened), command, direct::address(&range)));
}
int directory_backend::lock_whole(handle opened, int /*fd*/, int operation) {
    return number(direct::call(SYS_flock, fd_of(opened), operation));
}
int64_t directory_backend::map(handle opened, void* at, size_t bytes, int protection, int flags, int64_t offset) {
    return direct::call(SYS_mmap, direct::address(at), static_cast<long>(bytes), protection, flags, fd_of(opened),
                        offset);
}

int directory_backend::stat_path(const char* path, bool follow, struct stat& out) {
    return number(direct::call(SYS_newfstatat, root_, direct::address(below(path)), direct::address(&out),
                               follow ? 0 : AT_SYMLINK_NOFOLLOW));
}
int directory_backend::unlink(const char* path) {
    if (is_root(path)) return -EISDIR;
    return number(direct::call(SYS_unlinkat, root_, direct::address(below(path)), 0));
}
int directory_backend::rename(const char* from, const char* to, unsigned flags) {
    return number(
        direct::call(SYS_renameat2, root_, direct::address(below(from)), root_, direct::address(below(to)), flags));
}
int directory_backend::make_directory(const char* path, unsigned mode) {
    return number(direct::call(SYS_mkdirat, root_, direct::address(below(path)), mode));
}
int directory_backend::remove_directory(const char* path) {
    if (is_root(path)) return -EBUSY;
    return number(direct::call(SYS_unlinkat, root_, direct::address(below(path)), AT_REMOVEDIR));
}
int directory_backend::link(const char* from, const char* to) {
    return number(direct::call(SYS_linkat, root_, direct::address(below(from)), root_, direct::address(below(to)), 0));
}
int directory_backend::make_symbolic_link(const char* target, const char* path) {
    return number(direct::call(SYS_symlinkat, direct::address(target), root_, direct::address(below(path))));
}
ssize_t directory_backend::read_link(const char* path, char* out, size_t room) {
    return direct::call(SYS_readlinkat, root_, direct::address(below(path)), direct::address(out),
                        static_cast<long>(room));
}
int directory_backend::set_mode(const char* path, unsigned mode) {
    return number(direct::call(SYS_fchmodat, root_, direct::address(below(path)), mode));
}
int directory_backend::set_mode(handle opened, unsigned mode) {
    return number(direct::call(SYS_fchmod, fd_of(opened), mode));
}
int directory_backend::set_owner(const char* path, bool follow, uid_t user, gid_t group) {
    return number(
        direct::call(SYS_fchownat, root_, direct::address(below(path)), user, group, follow ? 0 : AT_SYMLINK_NOFOLLOW));
}
int directory_backend::set_owner(handle opened, uid_t user, gid_t group) {
    return number(direct::call(SYS_fchown, fd_of(opened), user, group));
}
int directory_backend::set_times(const char* path, bool follow, const timespec times[2]) {
    return number(direct::call(SYS_utimensat, root_, direct::address(below(path)), direct::address(times),
                               follow ? 0 : AT_SYMLINK_NOFOLLOW));
}
int directory_backend::set_times(handle opened, const timespec times[2]) {
    return number(direct::call(SYS_utimensat, fd_of(opened), 0, direct::address(times), 0));
}
int directory_backend::stat_system(struct statfs& out) {
    return direct::fstatfs(root_, &out);
}

// "." and ".." come first, whatever the kernel's order is; behind them its own places, moved on by 2.
int directory_backend::next_entry(handle directory, uint64_t& after, entry& out) {
    constexpr uint64_t dots = 2;
    struct alignas(8) {
        char bytes[1024];
    } buffer = {};
    struct record {
        uint64_t inode;
        int64_t next;
        unsigned short length;
        unsigned char type;
        char name[1];
    };
    if (after < dots) {
        const char* const name = after == 0 ? "." : "..";
        struct stat found {};
        const long failed =
            direct::call(SYS_newfstatat, fd_of(directory), direct::address(name), direct::address(&found));
        if (failed != 0) return number(failed);
        out = {.inode = found.st_ino, .type = DT_DIR, .name = {'.', name[1]}};
        ++after;
        return 1;
    }
    do {
        const int64_t sought = direct::lseek(fd_of(directory), static_cast<int64_t>(after - dots), SEEK_SET);
        if (sought < 0) return number(sought);
        const long got = direct::call(SYS_getdents64, fd_of(directory), direct::address(&buffer), sizeof buffer);
        if (got <= 0) return number(got);
        const auto* const first = reinterpret_cast<const record*>(buffer.bytes);
        out.inode = first->inode;
        out.type = first->type;
        std::strncpy(out.name, first->name, sizeof out.name);
        after = static_cast<uint64_t>(first->next) + dots;
    } while (std::strcmp(out.name, ".") == 0 || std::strcmp(out.name, "..") == 0);
    return 1;
}

}  // namespace halcyon::calls
