#pragma once

#include "calls/memory_backend/file_data.hpp"
#include "calls/memory_backend/names.hpp"
#include "calls/memory_backend/space.hpp"

namespace halcyon::calls::in_memory {

/// Open files, each of which any number of processes hold. A handle is the same number in all of them.
///
/// A process that ends lets go without a word: others notice when they look for room, or wait for a lock (sweep). An
/// open file that nobody holds stays for a while, at the end of a queue, so that a child finds it that was forked
/// before its parent closed it.
class open_files {
  public:
    constexpr open_files() = default;
    void start(space& of, job_processes& processes, file_data& data);

    static uint32_t record_of(uint64_t handle) { return static_cast<uint32_t>(handle & 0xffff); }
    static uint32_t inode_of(uint64_t handle) { return static_cast<uint32_t>(handle >> 16 & 0xffffff); }
    /// What follows, up to after_fork(), is with head.lock, which `own` took.

    /// -ENFILE.
    int open(const names::place& at, int flags, int own, uint64_t& handle);
    int adopt(uint64_t handle, int own);
    void close(uint64_t handle, int own);
    /// Null: closed, and others were opened since.
    [[nodiscard]] open_record* find(uint64_t handle) const;
    /// 0, or -EAGAIN.
    int lock_whole(uint64_t handle, int operation) const;
    void free_if_unused(uint32_t inode) const;
    /// Truncates a file to nothing and gives its memory back at once, if nobody has it open.
    void empty(uint32_t inode);
    /// Lets go for processes that have ended.
    void sweep(int own);
    /// Frees what only such processes, or nobody, held.
    void reclaim(int own);
    /// The process's own, and, in a child that is about to become another program, its parent's.
    void hold_all(int own);

    void after_fork();

  private:
    void hold(uint32_t record, int own);
    void let_go(uint32_t record, int slot);
    void remember(uint32_t record, uint32_t generation);
    void settle(uint32_t kept);

    space* space_ = nullptr;
    job_processes* processes_ = nullptr;
    file_data* data_ = nullptr;
    uint32_t held_[most_open + 1] =
        {};  ///< generation of those that this process holds, or its parent did when it forked
};

}  // namespace halcyon::calls::in_memory
