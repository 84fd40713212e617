#pragma once

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <cerrno>
#include <ctime>

#include "calls/state/direct_call.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/inner_names.hpp"
#include "logfs/container/files/status_of.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

namespace direct = calls::direct;

/// For inner_names.
struct direct_system {
    static int open(int directory, const char* name, int flags, mode_t mode) {
        for (;;) {
            const long fd = direct::call(SYS_openat, directory, direct::address(name), flags, mode);
            if (fd != -EINTR) return static_cast<int>(fd);
        }
    }
    static void close(int fd) { direct::close(fd); }
    static int64_t read_link(int directory, const char* name, char* out, size_t room) {
        return direct::call(SYS_readlinkat, directory, direct::address(name), direct::address(out),
                            static_cast<long>(room));
    }
    static int status(int fd, struct stat& out) {
        return static_cast<int>(direct::call(SYS_fstat, fd, direct::address(&out)));
    }
    static int64_t read(int fd, char* out, size_t room) { return direct::read(fd, out, room); }
};

/// System calls that no interposed function sees, nor the application's errno.
class direct_file_calls : public file_calls {
  public:
    int open_at(int directory, const char* name, int flags, mode_t mode) override {
        return inner_names<direct_system>::open(directory, name, flags, mode);
    }
    int close(int fd) override {
        const int done = direct::close(fd);
        return done == -EINTR ? 0 : done;
    }
    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        return uninterrupted([&] {
            return count == 1 ? direct::call(SYS_pread64, fd, direct::address(parts->iov_base),
                                             static_cast<long>(parts->iov_len), offset)
                              : direct::call(SYS_preadv, fd, direct::address(parts), count, offset, 0);
        });
    }
    int64_t write_at(int fd, const iovec* parts, int count, int64_t offset) override {
        return uninterrupted([&] {
            return count == 1 ? direct::call(SYS_pwrite64, fd, direct::address(parts->iov_base),
                                             static_cast<long>(parts->iov_len), offset)
                              : direct::call(SYS_pwritev, fd, direct::address(parts), count, offset, 0);
        });
    }
    int64_t copy(int from, int64_t* from_offset, int to, int64_t* to_offset, int64_t bytes) override {
        return uninterrupted([&] {
            return direct::call(SYS_copy_file_range, from, direct::address(from_offset), to, direct::address(to_offset),
                                bytes, 0);
        });
    }
    int set_size(int fd, int64_t bytes) override {
        return static_cast<int>(uninterrupted([&] { return direct::call(SYS_ftruncate, fd, bytes); }));
    }
    int reserve(int fd, int64_t offset, int64_t bytes) override { return allocate(fd, 0, offset, bytes); }
    int punch(int fd, int64_t offset, int64_t bytes) override {
        return allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
    }
    int sync(int fd) override {
        return static_cast<int>(uninterrupted([&] { return direct::call(SYS_fdatasync, fd); }));
    }
    int sync_names(int directory) override {
        return static_cast<int>(uninterrupted([&] { return direct::call(SYS_fsync, directory); }));
    }
    int lock(int fd, bool exclusive) override { return lock_part(fd, 0, 0, exclusive, true); }
    int unlock(int fd) override { return unlock_part(fd, 0, 0); }
    int lock_part(int fd, int64_t offset, int64_t bytes, bool exclusive, bool waits) override {
        const int done = set_lock(fd, offset, bytes, exclusive ? F_WRLCK : F_RDLCK, waits);
        return done == -EACCES ? -EAGAIN : done;
    }
    int unlock_part(int fd, int64_t offset, int64_t bytes) override {
        return set_lock(fd, offset, bytes, F_UNLCK, false);
    }
    int lock_alone(int fd) override {
        return static_cast<int>(uninterrupted([&] { return direct::call(SYS_flock, fd, LOCK_EX | LOCK_NB); }));
    }
    int advise_soon(int fd, int64_t offset, int64_t bytes) override {
        return static_cast<int>(direct::call(SYS_fadvise64, fd, offset, bytes, POSIX_FADV_WILLNEED));
    }

    int status(int fd, struct stat& out) override {
        return static_cast<int>(direct::call(SYS_fstat, fd, direct::address(&out)));
    }
    int status_at(int directory, const char* name, struct stat& out) override {
        return static_cast<int>(
            direct::call(SYS_newfstatat, directory, direct::address(name), direct::address(&out), AT_SYMLINK_NOFOLLOW));
    }
    int refresh(int fd) override {
        struct stat ignored {};
        const int done = status_now_at(fd, "", ignored);
        // Not all file systems drop contents for a new time.
        return done != 0 ? done : static_cast<int>(direct::call(SYS_fadvise64, fd, 0, 0, POSIX_FADV_DONTNEED));
    }
    int status_now_at(int directory, const char* name, struct stat& out) override {
        struct statx now {};
        const int done = static_cast<int>(direct::call(SYS_statx, directory, direct::address(name),
                                                       AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC,
                                                       STATX_BASIC_STATS, direct::address(&now)));
        if (done == 0) out = status_of(now);
        return done;
    }
    int set_mode(int fd, mode_t mode) override { return static_cast<int>(direct::call(SYS_fchmod, fd, mode)); }
    int set_owner(int fd, uid_t user, gid_t group) override {
        return static_cast<int>(direct::call(SYS_fchown, fd, user, group));
    }
    int make_directory_at(int directory, const char* name, mode_t mode) override {
        return static_cast<int>(direct::call(SYS_mkdirat, directory, direct::address(name), mode));
    }
    int set_mode_at(int directory, const char* name, mode_t mode) override {
        if (directory < 0) return static_cast<int>(direct::call(SYS_fchmodat, directory, direct::address(name), mode));
        constexpr long fchmodat2 = 452;
        const long done = direct::call(fchmodat2, directory, direct::address(name), mode, AT_SYMLINK_NOFOLLOW);
        if (done != -ENOSYS) return static_cast<int>(done);
        // Linux before 6.6, by its name in /proc.
        const int fd = direct_system::open(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
        if (fd < 0) return fd;
        struct stat there {};
        const int looked = status(fd, there);
        const short_name itself = short_name("/proc/self/fd/").add(static_cast<uint64_t>(fd));
        long changed = looked != 0 ? looked : S_ISLNK(there.st_mode) ? -EOPNOTSUPP : -ENOENT;
        if (changed == -ENOENT) changed = direct::call(SYS_fchmodat, AT_FDCWD, direct::address(itself.c_str()), mode);
        if (changed == -ENOENT) changed = direct::call(SYS_fchmodat, directory, direct::address(name), mode);
        direct::close(fd);
        return static_cast<int>(changed);
    }
    int set_owner_at(int directory, const char* name, uid_t user, gid_t group) override {
        return static_cast<int>(
            direct::call(SYS_fchownat, directory, direct::address(name), user, group, AT_SYMLINK_NOFOLLOW));
    }
    int set_times_at(int directory, const char* name, const timespec times[2]) override {
        return static_cast<int>(
            direct::call(SYS_utimensat, directory, direct::address(name), direct::address(times), AT_SYMLINK_NOFOLLOW));
    }
    int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) override {
        return static_cast<int>(direct::call(SYS_renameat2, from_directory, direct::address(from), to_directory,
                                             direct::address(to), flags));
    }
    int remove_at(int directory, const char* name, bool is_directory) override {
        return static_cast<int>(
            direct::call(SYS_unlinkat, directory, direct::address(name), is_directory ? AT_REMOVEDIR : 0));
    }
    int make_link_at(const char* target, int directory, const char* name) override {
        return static_cast<int>(direct::call(SYS_symlinkat, direct::address(target), directory, direct::address(name)));
    }
    int make_hard_link_at(int directory, const char* from, const char* to) override {
        return static_cast<int>(
            direct::call(SYS_linkat, directory, direct::address(from), directory, direct::address(to), 0));
    }
    int64_t read_link_at(int directory, const char* name, char* out, size_t room) override {
        return direct::call(SYS_readlinkat, directory, direct::address(name), direct::address(out),
                            static_cast<long>(room));
    }
    int64_t list(int directory, void* out, size_t bytes) override {
        return direct::call(SYS_getdents64, directory, direct::address(out), static_cast<long>(bytes));
    }

    int64_t file_system(int fd) override {
        struct statfs system {};
        const long done = direct::fstatfs(fd, &system);
        return done != 0 ? done : static_cast<int64_t>(static_cast<uint32_t>(system.f_type));
    }
    int64_t free_bytes(int fd) override {
        struct statfs system {};
        const long done = direct::fstatfs(fd, &system);
        return done != 0 ? done : static_cast<int64_t>(system.f_bavail) * static_cast<int64_t>(system.f_bsize);
    }
    void* map(int fd, int64_t offset, size_t bytes, int& error) override {
        const long at =
            direct::call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
        error = is_error(at) ? static_cast<int>(-at) : 0;
        return is_error(at) ? nullptr : reinterpret_cast<void*>(at);
    }
    void* map_pages(int fd, int64_t offset, size_t bytes) override {
        const long at = direct::call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ, MAP_PRIVATE, fd, offset);
        return is_error(at) ? nullptr : reinterpret_cast<void*>(at);
    }
    void unmap(void* at, size_t bytes) override {
        direct::call(SYS_munmap, direct::address(at), static_cast<long>(bytes));
    }

    void* take_pages(size_t bytes) override {
        const long at = direct::call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return is_error(at) ? nullptr : in_large_pages(at, bytes);
    }
    void* resize_pages(void* at, size_t bytes, size_t wanted) override {
        const long moved = direct::call(SYS_mremap, direct::address(at), static_cast<long>(bytes),
                                        static_cast<long>(wanted), MREMAP_MAYMOVE);
        if (is_error(moved)) return nullptr;
        return wanted > bytes ? in_large_pages(moved, wanted) : reinterpret_cast<void*>(moved);
    }
    void return_pages(void* at, size_t bytes) override { unmap(at, bytes); }

    void pause(int64_t ns) override {
        const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
        direct::call(SYS_nanosleep, direct::address(&time));
    }

  private:
    // Of fcntl; the C library's headers have them under other names.
    static constexpr int set_lock_of_file = 37;
    static constexpr int set_lock_of_file_and_wait = 38;

    /// Again for as long as signals interrupt it.
    template <class Call>
    static long uninterrupted(Call call) {
        for (;;) {
            const long done = call();
            if (done != -EINTR) return done;
        }
    }
    static bool is_error(long result) { return result < 0 && result > -4096; }
    static void* in_large_pages(long at, size_t bytes) {
        if (bytes >= large_pages_from) direct::call(SYS_madvise, at, static_cast<long>(bytes), MADV_HUGEPAGE);
        return reinterpret_cast<void*>(at);
    }
    static int allocate(int fd, int mode, int64_t offset, int64_t bytes) {
        return static_cast<int>(uninterrupted([&] { return direct::call(SYS_fallocate, fd, mode, offset, bytes); }));
    }
    /// Of the open file, not of the process: a lock that another descriptor of the process gives back is no lock.
    static int set_lock(int fd, int64_t offset, int64_t bytes, int type, bool waits) {
        struct flock part {};
        part.l_type = static_cast<short>(type);
        part.l_whence = SEEK_SET;
        part.l_start = offset;
        part.l_len = bytes;
        const int command = waits ? set_lock_of_file_and_wait : set_lock_of_file;
        return static_cast<int>(
            uninterrupted([&] { return direct::call(SYS_fcntl, fd, command, direct::address(&part)); }));
    }
};

}  // namespace halcyon::logfs
