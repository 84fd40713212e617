#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

#include "calls/record/data_places.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {

/// Answers calls on files in place of the kernel: on all whose path lies under its mount prefix, and on all descriptors
/// that came from there, in this process or in the one that started it.
///
/// What the variants of a function have in common (`64`, `_chk`, `at`, `v`, `x`) is folded before a backend is asked:
/// these are all of its operations. Each returns what the system call does: -errno where it fails. The pure ones are
/// what no program can do without; of the others, those that a backend has no answer to keep the error given here.
///
/// Paths are absolute below the prefix: "/" is the prefix itself; without "." and "..", "//" and a slash at the end.
///
/// Called from any thread and from signal handlers, from children of vfork (is_own_process() is false: they share this
/// memory, and must leave what this process knows as it is) and while no layer records anything. A backend must not
/// allocate by malloc, must not throw, must not call interposed functions, and must not wait for a lock that the thread
/// itself may hold. Its own system calls go by direct::call; report_below() (report_below.hpp) shows them to the
/// layers.
class file_backend {
  public:
    /// A file that is open; its meaning is the backend's. Descriptors that are duplicates share it.
    using handle = uint64_t;

    /// As it appears in errors; at most 15 characters.
    [[nodiscard]] virtual const char* name() const = 0;

    // --- files ---

    /// `flags`, `mode`: as of open(2). A directory is opened as well (O_DIRECTORY, or without write access). Of what is
    /// created, here and by make_directory(), the process's umask takes its bits: a backend lets the kernel do that.
    /// Asking for the umask means changing it, in all threads, for a moment.
    virtual int open(const char* path, int flags, unsigned mode, handle& opened) = 0;
    /// Another process opened this file, and left the descriptor to this one: `key` is what key_of() said there. Asked
    /// for each of the descriptors that are duplicates; where the handle is the same each time, it is closed once.
    virtual int adopt(uint64_t key, handle& opened) = 0;
    /// The file that `opened` stands for, so that adopt() finds it in any process of the job.
    [[nodiscard]] virtual uint64_t key_of(handle opened) = 0;
    /// The last descriptor of this process for `opened` is gone.
    virtual void close(handle opened) = 0;
    /// As open() was given it; null-ended; at most `room` bytes. The length; -errno where the file has no name any
    /// more.
    virtual ssize_t path_of(handle opened, char* out, size_t room) = 0;
    /// As open() of the same file, also of one that has no name any more, with `flags` that create nothing. Here by its
    /// path: -ENOENT where it has none.
    virtual int open_again(handle opened, int flags, handle& again) {
        char path[PATH_MAX];
        const ssize_t length = path_of(opened, path, sizeof path);
        return length < 0 ? static_cast<int>(length) : open(path, flags, 0, again);
    }

    /// Where the bytes of the file come from and go to, if not to its own path: a layer may give turns at file systems.
    /// Asked when a descriptor is named, not for each call. Where it would say something else later, the backend says
    /// so (backends::placed_anew). Nothing here.
    virtual void say_places(handle /*opened*/, data_places& /*out*/) {}

    /// Up to the end of the file: 0 there.
    virtual ssize_t read(handle opened, const iovec* pieces, int count, int64_t offset) = 0;
    virtual ssize_t write(handle opened, const iovec* pieces, int count, int64_t offset) = 0;
    /// Writes at the end, wherever that is by then, as one step; `offset` becomes where.
    virtual ssize_t append(handle opened, const iovec* pieces, int count, int64_t& offset) = 0;

    /// Moves bytes from `offset` on to a file of the kernel's, at `to_offset` or at its position, by the kernel: not
    /// through memory of the process. How many: fewer than asked for, or none, where only read() can go on, or says why
    /// not.
    virtual int64_t copy_out(handle /*opened*/, int64_t /*offset*/, int64_t /*bytes*/, int /*to*/,
                             int64_t* /*to_offset*/) {
        return 0;
    }
    /// Likewise, into this file at `offset`, from a file of the kernel's, whose position stays.
    virtual int64_t copy_in(handle /*opened*/, int64_t /*offset*/, int64_t /*bytes*/, int /*from*/,
                            int64_t /*from_offset*/) {
        return 0;
    }

    virtual int stat(handle opened, struct stat& out) = 0;
    virtual int resize(handle opened, int64_t bytes) = 0;
    /// fallocate(2). Mode 0 at least makes the file as long as that.
    virtual int reserve(handle opened, int mode, int64_t offset, int64_t bytes) {
        struct stat now {};
        if (mode != 0) return -EOPNOTSUPP;
        if (const int failed = stat(opened, now); failed != 0) return failed;
        return now.st_size >= offset + bytes ? 0 : resize(opened, offset + bytes);
    }
    /// Where data (SEEK_DATA) or a hole (SEEK_HOLE) begins, at `offset`, which lies before the end `size`, or behind
    /// it; -ENXIO: nowhere. Here all is data.
    virtual int64_t next_of(handle /*opened*/, int whence, int64_t offset, int64_t size) {
        return whence == SEEK_DATA ? offset : size;
    }
    virtual int sync(handle opened, bool data_only) = 0;
    /// F_SETLK, F_SETLKW, F_GETLK of fcntl(2); `range` is absolute (SEEK_SET). The owner is the process.
    virtual int lock(handle /*opened*/, int /*command*/, struct flock& /*range*/) { return -ENOLCK; }
    /// flock(2). The owner is what the descriptors `fd` and its duplicates, in all processes, have in common.
    virtual int lock_whole(handle /*opened*/, int /*fd*/, int /*operation*/) { return -ENOLCK; }
    /// mmap(2) of the file: the address, or -errno.
    virtual int64_t map(handle /*opened*/, void* /*at*/, size_t /*bytes*/, int /*protection*/, int /*flags*/,
                        int64_t /*offset*/) {
        return -ENODEV;
    }

    // --- files that several processes open together (by MPI) ---

    /// A time, in ns since 1970, that is later than all that this process wrote to the file. -errno: it keeps none.
    virtual int64_t propose_epoch(handle /*opened*/) { return -ENOSYS; }
    /// From now on, what this process writes to the file is what a member of `group` writes. All processes that have
    /// this number raise their epochs together; 0: it is alone. `has_same_pages`: pages_of() is the same for all of
    /// them.
    virtual int join_group(handle /*opened*/, uint64_t /*group*/, bool /*has_same_pages*/) { return -ENOSYS; }
    /// All that the members of the group wrote before is older than all that they write from now on. Each of them calls
    /// it with the same time, the latest of those that they propose. Nothing, where the process has joined another one.
    virtual int raise_epoch(handle /*opened*/, uint64_t /*group*/, int64_t /*time_ns*/) { return -ENOSYS; }

    /// The pages by which this process sees the file: two processes with the same number see at once what either wrote.
    [[nodiscard]] virtual uint64_t pages_of(handle /*opened*/) { return 0; }
    /// What this process wrote is there for the other members of its group, when they look.
    virtual int show_group(handle /*opened*/) { return 0; }
    /// As raise_epoch(), of members who have all called show_group(), and are about to write together: one of them may
    /// read what lies between the pieces that it was given, and write it back. What it reads next holds all that they
    /// wrote, and what it writes until end_together() is older than what any of them writes behind that.
    virtual int begin_together(handle /*opened*/, uint64_t /*group*/, int64_t /*time_ns*/) { return -ENOSYS; }
    virtual void end_together(handle /*opened*/) {}
    /// The members have begun to write together, and nobody knows until when: from now on, what this process writes is
    /// there for the others at once, and all that it does follows a look at what they wrote.
    virtual int share_at_once(handle /*opened*/) { return 0; }

    // --- names ---

    virtual int stat_path(const char* path, bool follow, struct stat& out) = 0;
    /// `flags`: as of faccessat(2); AT_EACCESS asks for what the process may do, and not for the user who started it.
    /// Permissions are not looked at here, but for whether anyone may execute it.
    virtual int access(const char* path, int mode, int /*flags*/) {
        struct stat found {};
        if (const int failed = stat_path(path, true, found); failed != 0) return failed;
        return (mode & X_OK) != 0 && (found.st_mode & 0111) == 0 ? -EACCES : 0;
    }
    virtual int unlink(const char* path) = 0;
    virtual int rename(const char* from, const char* to, unsigned flags) = 0;
    virtual int make_directory(const char* /*path*/, unsigned /*mode*/) { return -EPERM; }
    virtual int remove_directory(const char* /*path*/) { return -EPERM; }
    virtual int link(const char* /*from*/, const char* /*to*/) { return -EPERM; }
    virtual int make_symbolic_link(const char* /*target*/, const char* /*path*/) { return -EPERM; }
    virtual ssize_t read_link(const char* /*path*/, char* /*out*/, size_t /*room*/) { return -EINVAL; }
    virtual int set_mode(const char* /*path*/, unsigned /*mode*/) { return -EPERM; }
    virtual int set_mode(handle /*opened*/, unsigned /*mode*/) { return -EPERM; }
    /// `follow`: of what a symbolic link at the end of the path leads to; else of the link itself.
    virtual int set_owner(const char* /*path*/, bool /*follow*/, uid_t /*user*/, gid_t /*group*/) { return -EPERM; }
    virtual int set_owner(handle /*opened*/, uid_t /*user*/, gid_t /*group*/) { return -EPERM; }
    /// Access and modification, as utimensat(2): tv_nsec may be UTIME_NOW, or UTIME_OMIT. `follow`: as above.
    virtual int set_times(const char* /*path*/, bool /*follow*/, const timespec /*times*/[2]) { return -EPERM; }
    virtual int set_times(handle /*opened*/, const timespec /*times*/[2]) { return -EPERM; }
    virtual int stat_system(struct statfs& /*out*/) { return -ENOSYS; }

    // --- directories ---

    struct entry {
        uint64_t inode;
        unsigned char type;  ///< DT_REG, DT_DIR, …
        char name[256];
    };
    /// The entry behind `after` (0: the first, which is "."), and in `after` what stands for it: 1, 0 at the end, or
    /// -errno. Entries that are there all the time are found once.
    virtual int next_entry(handle /*directory*/, uint64_t& /*after*/, entry& /*out*/) { return -ENOTDIR; }

    // --- in front of a directory of the kernel's ---

    /// Whether the prefix is a directory of the kernel's, and names below it are the kernel's, too. Then those that
    /// answers() denies are the kernel's matter alone, descriptors of directories are the kernel's own, and so is a
    /// working directory there.
    [[nodiscard]] virtual bool shares_names() const { return false; }
    [[nodiscard]] virtual bool answers(const char* /*path*/) { return true; }
    /// A descriptor for what was opened, of something of the backend's own, which keeps the access (kept_access.hpp) if
    /// it stands for a file; -errno. -ENOSYS: it has none, and gets a placeholder in memory.
    virtual int descriptor_of(handle /*opened*/, int /*flags*/) { return -ENOSYS; }
    /// In place of adopt(), of a descriptor of the kernel's, which calls its file `name`, where descriptor_of() made it
    /// in any process; with the access mode that it was opened with. -EBADF: it is another file.
    virtual int adopt_descriptor(int /*fd*/, const char* /*name*/, handle& /*opened*/, int& /*access*/) {
        return -EBADF;
    }

    /// A hint that MPI-IO gets when it opens a file here, unless the application says otherwise; a null key: none.
    struct hint {
        const char* key;
        const char* value;
    };
    [[nodiscard]] virtual hint hint_for_mpi() const { return {nullptr, nullptr}; }

    // --- processes ---

    /// Another process is about to get this one's descriptors: by fork, vfork, clone or posix_spawn. Not in a child of
    /// vfork: each of its calls adopts the files that it needs.
    virtual void before_fork() {}
    /// Around a fork, by the thread that forks, in the parent: in between, no other thread leaves for the child what it
    /// is in the middle of. Handlers of this thread (pthread_atfork) may make any call.
    virtual void keep_still() {}
    virtual void go_on() {}
    /// In the child, before any other call. Descriptors are the parent's, and so are the handles.
    virtual void after_fork() {}
    /// A jump (longjmp) leaves all calls of this thread that have not returned. They lie untouched until this returns.
    virtual void calls_left() {}
    /// The process is about to become another program, which adopts what is not closed on exec.
    virtual void before_exec() {}
    /// The process is about to end, and its other threads still run: nothing may be waited for that may take long.
    virtual void before_end() {}

  protected:
    ~file_backend() = default;
};

}  // namespace halcyon::calls
