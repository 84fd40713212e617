#pragma once

#include "calls/backends/file_backend.hpp"
#include "calls/memory_backend/file_data.hpp"
#include "calls/memory_backend/job_processes.hpp"
#include "calls/memory_backend/names.hpp"
#include "calls/memory_backend/open_files.hpp"
#include "calls/memory_backend/pieces.hpp"
#include "calls/memory_backend/space.hpp"

namespace halcyon::calls {

/// Files in memory that the processes of a job share, gone with the last of them. As the kernel's tmpfs in what callers
/// see, with these differences: nobody's permissions are checked; reads leave access times alone; a link to an absolute
/// path, or out of the backend, leads nowhere (EXDEV), since a backend does not know what lies around it; a mapping
/// shows zeros for pages that were behind the file's end when it was made.
class memory_backend final : public file_backend {
  public:
    constexpr memory_backend() = default;

    /// `memory`: a descriptor that the processes of the job have in common, of a memfd that is empty or was given to
    /// start() before; -1: makes one, which programs that this one becomes or starts inherit. The descriptor, or
    /// -errno. `capacity`: bytes of data, where nothing is in it yet; in chunks of 256 KiB.
    int start(int memory, int64_t capacity = in_memory::most_chunks * in_memory::chunk_bytes);
    /// Locks that were taken over, because their process ended with them.
    [[nodiscard]] uint32_t locks_taken_over() const;
    /// Of each file: writes end there, and fail with EDQUOT behind it.
    void set_quota(int64_t bytes) { quota_ = bytes; }

    [[nodiscard]] const char* name() const override { return "memory"; }

    int open(const char* path, int flags, unsigned mode, handle& opened) override;
    int adopt(uint64_t key, handle& opened) override;
    [[nodiscard]] uint64_t key_of(handle opened) override { return opened; }
    void close(handle opened) override;
    ssize_t path_of(handle opened, char* out, size_t room) override;
    int open_again(handle opened, int flags, handle& again) override;

    ssize_t read(handle opened, const iovec* pieces, int count, int64_t offset) override;
    ssize_t write(handle opened, const iovec* pieces, int count, int64_t offset) override;
    ssize_t append(handle opened, const iovec* pieces, int count, int64_t& offset) override;

    int stat(handle opened, struct stat& out) override;
    int resize(handle opened, int64_t bytes) override;
    int reserve(handle opened, int mode, int64_t offset, int64_t bytes) override;
    int sync(handle opened, bool data_only) override;
    int lock(handle opened, int command, struct flock& range) override;
    int lock_whole(handle opened, int fd, int operation) override;
    int64_t map(handle opened, void* at, size_t bytes, int protection, int flags, int64_t offset) override;

    int stat_path(const char* path, bool follow, struct stat& out) override;
    int unlink(const char* path) override;
    int rename(const char* from, const char* to, unsigned flags) override;
    int make_directory(const char* path, unsigned mode) override;
    int remove_directory(const char* path) override;
    int link(const char* from, const char* to) override;
    int make_symbolic_link(const char* target, const char* path) override;
    ssize_t read_link(const char* path, char* out, size_t room) override;
    int set_mode(const char* path, unsigned mode) override;
    int set_mode(handle opened, unsigned mode) override;
    int set_owner(const char* path, bool follow, uid_t user, gid_t group) override;
    int set_owner(handle opened, uid_t user, gid_t group) override;
    int set_times(const char* path, bool follow, const timespec times[2]) override;
    int set_times(handle opened, const timespec times[2]) override;
    int stat_system(struct statfs& out) override;

    int next_entry(handle directory, uint64_t& after, entry& out) override;

    void after_fork() override;
    void before_exec() override;

  private:
    using inode = in_memory::inode;

    [[nodiscard]] inode& node_of(handle opened) const {
        return space_->inodes[in_memory::open_files::inode_of(opened)];
    }
    [[nodiscard]] bool is_over_quota(int64_t offset, const iovec* pieces, int count) const {
        return quota_ != INT64_MAX && offset > quota_ - in_memory::piece_cursor::total(pieces, count);
    }
    int make(const char* path, unsigned mode, in_memory::names::place& at);
    int find_or_make(const char* path, int flags, unsigned mode, handle& opened);
    template <class Change>
    int change(const char* path, bool follow, Change how);
    void reclaim();

    in_memory::space* space_ = nullptr;
    int memory_ = -1;
    int64_t quota_ = INT64_MAX;
    in_memory::job_processes processes_;
    in_memory::file_data data_;
    in_memory::names names_;
    in_memory::open_files files_;
};

}  // namespace halcyon::calls
