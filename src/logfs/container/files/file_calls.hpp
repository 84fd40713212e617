#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace halcyon::logfs {

/// From so many bytes on memory may come in large pages, which take a small part of the time that it takes to touch all
/// others for the first time.
inline constexpr size_t large_pages_from = size_t{4} << 20;

/// What a container asks of the system. Whoever uses a container inside an application's calls makes system calls of
/// its own; tests count them, let them fail and kill the process before and after each.
///
/// Each call returns what the system call does: -errno where it fails. None is interrupted halfway for a signal.
/// Names are relative to the directory that a descriptor stands for.
class file_calls {
  public:
    file_calls() = default;
    file_calls(const file_calls&) = delete;
    file_calls& operator=(const file_calls&) = delete;
    virtual ~file_calls() = default;

    /// Never by a link that has the name, unless a directory is asked for (O_DIRECTORY); nor by one within a name in a
    /// directory, but for host directories that lie in another backend (inner_names.hpp). A pipe there keeps nobody
    /// waiting.
    virtual int open_at(int directory, const char* name, int flags, mode_t mode) = 0;
    virtual int close(int fd) = 0;
    virtual int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) = 0;
    virtual int64_t write_at(int fd, const iovec* parts, int count, int64_t offset) = 0;
    /// As copy_file_range(2): within the kernel, fewer bytes than asked for at will. Without an offset, at the
    /// position. Whoever can move them otherwise need not.
    virtual int64_t copy(int /*from*/, int64_t* /*from_offset*/, int /*to*/, int64_t* /*to_offset*/,
                         int64_t /*bytes*/) {
        return -EOPNOTSUPP;
    }
    virtual int set_size(int fd, int64_t bytes) = 0;
    /// Blocks of the disk, filled with zeros; the file grows where it ends before.
    virtual int reserve(int fd, int64_t offset, int64_t bytes) = 0;
    /// Gives blocks back; the bytes become zeros, the size stays.
    virtual int punch(int fd, int64_t offset, int64_t bytes) = 0;
    /// Contents, also those that were stored through a mapping, and size are on the device.
    virtual int sync(int fd) = 0;
    /// The names in a directory are on the device; of a file, its mode and owner, too.
    virtual int sync_names(int directory) = 0;
    virtual int lock(int fd, bool exclusive) = 0;
    virtual int unlock(int fd) = 0;
    /// Of a part of the file, which need not be there. -EAGAIN, unless it `waits`, where others have it locked.
    virtual int lock_part(int fd, int64_t offset, int64_t bytes, bool exclusive, bool waits) = 0;
    virtual int unlock_part(int fd, int64_t offset, int64_t bytes) = 0;
    /// As flock(2), exclusive, and apart from the locks above. -EAGAIN where others have it.
    virtual int lock_alone(int fd) = 0;
    virtual int advise_soon(int fd, int64_t offset, int64_t bytes) = 0;

    virtual int status(int fd, struct stat& out) = 0;
    /// Of what has the name; a link itself.
    virtual int status_at(int directory, const char* name, struct stat& out) = 0;
    /// From now on status() and reads show a file as whoever keeps it has it at this moment, whatever this host kept of
    /// its size, times and contents (file_systems.hpp: is_seen_late).
    virtual int refresh(int fd) = 0;
    /// status_at(), as whoever keeps it says at this moment.
    virtual int status_now_at(int directory, const char* name, struct stat& out) = 0;
    virtual int set_mode(int fd, mode_t mode) = 0;
    virtual int set_owner(int fd, uid_t user, gid_t group) = 0;
    virtual int make_directory_at(int directory, const char* name, mode_t mode) = 0;
    /// Of what has the name below a descriptor; -EOPNOTSUPP: a link. Below AT_FDCWD links are followed.
    virtual int set_mode_at(int directory, const char* name, mode_t mode) = 0;
    /// -1: as before. Of what has the name; a link itself.
    virtual int set_owner_at(int directory, const char* name, uid_t user, gid_t group) = 0;
    /// Access and modification; as utimensat(2), UTIME_NOW and UTIME_OMIT, too. Of a link itself.
    virtual int set_times_at(int directory, const char* name, const timespec times[2]) = 0;
    virtual int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) = 0;
    virtual int remove_at(int directory, const char* name, bool is_directory) = 0;
    /// A symbolic link, and another name of a file.
    virtual int make_link_at(const char* target, int directory, const char* name) = 0;
    virtual int make_hard_link_at(int directory, const char* from, const char* to) = 0;
    /// How many characters, without a 0 behind them.
    virtual int64_t read_link_at(int directory, const char* name, char* out, size_t room) = 0;
    /// Entries as getdents64 gives them; 0 at the end.
    virtual int64_t list(int directory, void* out, size_t bytes) = 0;

    /// The type of the file system of an open file, as statfs(2) has it (file_systems.hpp); -errno.
    virtual int64_t file_system(int fd) = 0;
    /// What the file system of an open file has room for, for this user; -errno.
    virtual int64_t free_bytes(int fd) = 0;
    /// Shared and writable; null with errno in `error`.
    virtual void* map(int fd, int64_t offset, size_t bytes, int& error) = 0;
    /// To be read only, and to be given back as pages (below); null where that fails.
    virtual void* map_pages(int fd, int64_t offset, size_t bytes) = 0;
    virtual void unmap(void* at, size_t bytes) = 0;

    /// Zeroed memory in whole pages, large ones of the system where it is much (large_pages_from); null where there is
    /// none.
    virtual void* take_pages(size_t bytes) = 0;
    /// The same pages, perhaps elsewhere; what is new is zeroed. Null: they are as they were.
    virtual void* resize_pages(void* at, size_t bytes, size_t wanted) = 0;
    virtual void return_pages(void* at, size_t bytes) = 0;

    /// Sleeps so long, or less.
    virtual void pause(int64_t ns) = 0;

    /// A step of a writer that is no system call, but stores into a mapped file, lies behind this process.
    virtual void passed(const char* step) { static_cast<void>(step); }
    /// Twice the device of a file system, and 1 where directories are renamed as a whole there (file_systems.hpp); 0:
    /// none was asked yet.
    std::atomic<uint64_t> renames_known{0};

    /// Whether passed() wants to be told.
    [[nodiscard]] bool watches_steps() const { return watches_steps_; }

  protected:
    bool watches_steps_ = false;
};

/// The C library's.
file_calls& kernel_files();

}  // namespace halcyon::logfs
