#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/inner_names.hpp"
#include "logfs/container/files/status_of.hpp"

namespace halcyon::logfs {
namespace {

/// Again for as long as signals interrupt it; -errno where it fails.
template <class Call>
auto uninterrupted(Call call) {
    for (;;) {
        const auto done = call();
        if (done >= 0) return done;
        if (errno != EINTR) return static_cast<decltype(call())>(-errno);
    }
}

/// For inner_names.
struct c_library {
    static int open(int directory, const char* name, int flags, mode_t mode) {
        return uninterrupted([&] { return ::openat(directory, name, flags, mode); });
    }
    static void close(int fd) { ::close(fd); }
    static int64_t read_link(int directory, const char* name, char* out, size_t room) {
        return uninterrupted([&] { return int64_t{::readlinkat(directory, name, out, room)}; });
    }
    static int status(int fd, struct stat& out) {
        return uninterrupted([&] { return ::fstat(fd, &out); });
    }
    static int64_t read(int fd, char* out, size_t room) {
        return uninterrupted([&] { return int64_t{::read(fd, out, room)}; });
    }
};

class kernel final : public file_calls {
  public:
    int open_at(int directory, const char* name, int flags, mode_t mode) override {
        return inner_names<c_library>::open(directory, name, flags, mode);
    }
    // Linux frees the number whatever close() says: never again.
    int close(int fd) override { return ::close(fd) == 0 || errno == EINTR ? 0 : -errno; }
    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        if (count == 1)
            return uninterrupted([&] { return int64_t{::pread(fd, parts->iov_base, parts->iov_len, offset)}; });
        return uninterrupted([&] { return int64_t{::preadv(fd, parts, count, offset)}; });
    }
    int64_t write_at(int fd, const iovec* parts, int count, int64_t offset) override {
        if (count == 1)
            return uninterrupted([&] { return int64_t{::pwrite(fd, parts->iov_base, parts->iov_len, offset)}; });
        return uninterrupted([&] { return int64_t{::pwritev(fd, parts, count, offset)}; });
    }
    int set_size(int fd, int64_t bytes) override {
        return uninterrupted([&] { return ::ftruncate(fd, bytes); });
    }
    int reserve(int fd, int64_t offset, int64_t bytes) override {
        return uninterrupted([&] { return ::fallocate(fd, 0, offset, bytes); });
    }
    int punch(int fd, int64_t offset, int64_t bytes) override {
        return uninterrupted(
            [&] { return ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes); });
    }
    int sync(int fd) override {
        return uninterrupted([&] { return ::fdatasync(fd); });
    }
    // fdatasync() may leave out a name that fits into the directory as it was (ext4 before Linux 5.10).
    int sync_names(int directory) override {
        return uninterrupted([&] { return ::fsync(directory); });
    }
    int lock(int fd, bool exclusive) override { return lock_part(fd, 0, 0, exclusive, true); }
    int unlock(int fd) override { return unlock_part(fd, 0, 0); }
    int lock_part(int fd, int64_t offset, int64_t bytes, bool exclusive, bool waits) override {
        const int done = set_lock(fd, offset, bytes, exclusive ? F_WRLCK : F_RDLCK, waits);
        return done == -EACCES ? -EAGAIN : done;  // POSIX allows either
    }
    int unlock_part(int fd, int64_t offset, int64_t bytes) override {
        return set_lock(fd, offset, bytes, F_UNLCK, false);
    }
    int lock_alone(int fd) override {
        return uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); });
    }
    int advise_soon(int fd, int64_t offset, int64_t bytes) override {
        return -::posix_fadvise(fd, offset, bytes, POSIX_FADV_WILLNEED);
    }
    int status(int fd, struct stat& out) override {
        return uninterrupted([&] { return ::fstat(fd, &out); });
    }
    int status_at(int directory, const char* name, struct stat& out) override {
        return uninterrupted([&] { return ::fstatat(directory, name, &out, AT_SYMLINK_NOFOLLOW); });
    }
    int refresh(int fd) override {
        struct stat ignored {};
        const int done = status_now_at(fd, "", ignored);
        // Not all file systems drop contents for a new time.
        return done != 0 ? done : -::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    int status_now_at(int directory, const char* name, struct stat& out) override {
        struct statx now {};
        const int done = uninterrupted([&] {
            return ::statx(directory, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC,
                           STATX_BASIC_STATS, &now);
        });
        if (done == 0) out = status_of(now);
        return done;
    }
    int set_mode(int fd, mode_t mode) override {
        return uninterrupted([&] { return ::fchmod(fd, mode); });
    }
    int set_owner(int fd, uid_t user, gid_t group) override {
        return uninterrupted([&] { return ::fchown(fd, user, group); });
    }
    int make_directory_at(int directory, const char* name, mode_t mode) override {
        return uninterrupted([&] { return ::mkdirat(directory, name, mode); });
    }
    int set_mode_at(int directory, const char* name, mode_t mode) override {
        const int done =
            uninterrupted([&] { return ::fchmodat(directory, name, mode, directory < 0 ? 0 : AT_SYMLINK_NOFOLLOW); });
        struct stat there {};
        // Where the C library does that by /proc, and that is not there.
        if (done != -EOPNOTSUPP || directory < 0 || status_at(directory, name, there) != 0 || S_ISLNK(there.st_mode))
            return done;
        return uninterrupted([&] { return ::fchmodat(directory, name, mode, 0); });
    }
    int set_owner_at(int directory, const char* name, uid_t user, gid_t group) override {
        return uninterrupted([&] { return ::fchownat(directory, name, user, group, AT_SYMLINK_NOFOLLOW); });
    }
    int set_times_at(int directory, const char* name, const timespec times[2]) override {
        return uninterrupted([&] { return ::utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW); });
    }
    int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) override {
        return uninterrupted([&] { return ::renameat2(from_directory, from, to_directory, to, flags); });
    }
    int remove_at(int directory, const char* name, bool is_directory) override {
        return uninterrupted([&] { return ::unlinkat(directory, name, is_directory ? AT_REMOVEDIR : 0); });
    }
    int make_link_at(const char* target, int directory, const char* name) override {
        return uninterrupted([&] { return ::symlinkat(target, directory, name); });
    }
    int make_hard_link_at(int directory, const char* from, const char* to) override {
        return uninterrupted([&] { return ::linkat(directory, from, directory, to, 0); });
    }
    int64_t read_link_at(int directory, const char* name, char* out, size_t room) override {
        return uninterrupted([&] { return int64_t{::readlinkat(directory, name, out, room)}; });
    }
    int64_t list(int directory, void* out, size_t bytes) override {
        return uninterrupted([&] { return int64_t{::getdents64(directory, out, bytes)}; });
    }

    int64_t file_system(int fd) override {
        struct statfs system {};
        const int done = uninterrupted([&] { return ::fstatfs(fd, &system); });
        return done != 0 ? done : static_cast<int64_t>(static_cast<uint32_t>(system.f_type));
    }
    int64_t free_bytes(int fd) override {
        struct statfs system {};
        const int done = uninterrupted([&] { return ::fstatfs(fd, &system); });
        return done != 0 ? done : static_cast<int64_t>(system.f_bavail) * static_cast<int64_t>(system.f_bsize);
    }
    void* map(int fd, int64_t offset, size_t bytes, int& error) override {
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
        error = at == MAP_FAILED ? errno : 0;
        return at == MAP_FAILED ? nullptr : at;
    }
    void* map_pages(int fd, int64_t offset, size_t bytes) override {
        void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, offset);
        return at == MAP_FAILED ? nullptr : at;
    }
    void unmap(void* at, size_t bytes) override { ::munmap(at, bytes); }

    void* take_pages(size_t bytes) override {
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return at == MAP_FAILED ? nullptr : in_large_pages(at, bytes);
    }
    void* resize_pages(void* at, size_t bytes, size_t wanted) override {
        void* const moved = ::mremap(at, bytes, wanted, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED) return nullptr;
        return wanted > bytes ? in_large_pages(moved, wanted) : moved;
    }
    void return_pages(void* at, size_t bytes) override { ::munmap(at, bytes); }

    void pause(int64_t ns) override {
        const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
        ::nanosleep(&time, nullptr);
    }

  private:
    static void* in_large_pages(void* at, size_t bytes) {
        if (bytes >= large_pages_from) ::madvise(at, bytes, MADV_HUGEPAGE);
        return at;
    }
    /// Of the open file, not of the process: a lock that another descriptor of the process gives back is no lock.
    /// 0 bytes: to the end of all files.
    static int set_lock(int fd, int64_t offset, int64_t bytes, int type, bool waits) {
        struct flock part {};
        part.l_type = static_cast<short>(type);
        part.l_whence = SEEK_SET;
        part.l_start = offset;
        part.l_len = bytes;
        return uninterrupted([&] { return ::fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &part); });
    }
};

}  // namespace

file_calls& kernel_files() {
    static kernel calls;
    return calls;
}

}  // namespace halcyon::logfs
