#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "calls/record/call_record.hpp"
#include "calls/state/patient_lock.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// The file locks that the process may hold: fcntl's, lockf's, those of open file descriptions, and flock's. Where it
/// cannot be known whether a lock is still held, it counts as held: such a process is never held back, whoever waits
/// for its locks. Counts in process_slot::locks, for the other processes of the job.
///
/// A lock is gone when a range that covers it was unlocked, or when the descriptor by which it was taken was closed and
/// never duplicated. flock's may be given back by a duplicate; where several locks of a file could be meant, they go on
/// to count. (fcntl's locks go with any descriptor of their file; those that go so are still counted.)
class lock_table {
  public:
    /// In a new process, or in a forked child. That has those of its parent's locks that belong to open file
    /// descriptions, flock's among them, until its own copy of the descriptor is closed or anybody gives the lock back:
    /// its parent may close its copy, and the lock is still held. Whether a lock of fcntl is such a one, the kernel is
    /// asked. Whether it is still held, whoever would wait asks (held_locks.hpp): the child may do nothing for long. A
    /// lock of the parent that the child gives back still counts in the parent. A program that was begun by exec has
    /// its place from the program before, and counts those of its locks that are left as one, for good.
    void start(process_slot& shared);

    /// A call that has taken a lock, or given it back, by the descriptor.
    void taken(const calls::call_record& record, int descriptor);
    void given_back(const calls::call_record& record, int descriptor);
    void closed(int descriptor);
    void duplicated(int descriptor);

  private:
    static constexpr size_t most = 128;
    struct entry {
        bool used = false;
        bool whole = false;  ///< by flock
        bool shown = false;  ///< the kernel shows it as one of its description: it can be asked again
        bool inherited = false;
        uint32_t file = 0;
        int descriptor = -1;  ///< -1: several
        int64_t begin = 0;
        int64_t bytes = 0;  ///< 0: to the end of all files
    };

    [[nodiscard]] static bool belongs_to_child(entry& lock);
    void inherit(entry& lock);
    static entry of(const calls::call_record& record, int descriptor);
    [[nodiscard]] bool is_by_a_duplicate(const entry& range);
    [[nodiscard]] static bool covers(const entry& range, const entry& lock);
    [[nodiscard]] bool are_left_by_program_before();
    void lose_count();
    template <class Which>
    void remove(Which which);

    process_slot* shared_ = nullptr;
    calls::patient_lock held_;  ///< of who looks at the others
    std::array<entry, most> entries_{};
    bool beyond_ = false;  ///< more locks than there is room for: counted as held for good
};

}  // namespace halcyon::coordinate
