#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {

/// What is known of an open file description: what descriptors that were duplicated from one another share.
struct open_file {
    std::atomic<uint32_t> references;
    std::atomic<uint32_t> file;          ///< known_files id; `ignored` when nobody wants its calls
    std::atomic<uint32_t> generation;    ///< process in which `file` was named: ids are per process
    std::atomic<uint32_t> unseen_moves;  ///< of the process when it was opened, or when the kernel was asked last
    std::atomic<int64_t> position;       ///< where the next read or write goes
    std::atomic<uint8_t> moved_by;       ///< descriptors::movers
    std::atomic<uint8_t> agreed;         ///< so many transfers believe the position before the kernel is asked again
    std::atomic<uint8_t> believed;       ///< since it was asked
    std::atomic<bool> appends;           ///< O_APPEND: writes go to the end
    std::atomic<bool> seekable;
};

/// The process's descriptors. Each call on one that is not known asks the kernel once and remembers the answer, so
/// descriptors that came from elsewhere (inherited, received, opened past us) are found, too.
namespace descriptors {

/// Descriptors from this number on are not remembered: each of their calls asks the kernel.
inline constexpr int capacity = 65536;

/// Writers (open, close, dup) hold a lock; readers follow an index to a description without it. A description is given
/// back when its last descriptor was closed, and reused only by a later open: a reader that still holds it then sees
/// the other file's numbers, never unmapped memory.
struct table {
    // What lies at the begin of a page competes for the same few lines of the first cache, also with the kernel's.
    // Most programs use low descriptors: their entries lie elsewhere, and so do those of the files.
    std::byte apart[11 * 64];
    std::atomic<uint32_t> of_descriptor[capacity];  // index into `files`; 0: not known
    alignas(64) uint32_t free_count;
    uint32_t used;
    alignas(64) open_file files[capacity + 1];
    uint32_t free[capacity];
};
extern constinit std::atomic<table*> known __attribute__((visibility("hidden")));

/// As find(), of a descriptor that is not known yet, or was named by the process that this one was forked from.
open_file* find_out(int fd);

/// Null when `fd` is none or its file is ignored. Valid until the descriptor is closed.
inline open_file* find(int fd) {
    if (fd < 0 || fd >= capacity) [[unlikely]]
        return nullptr;
    this_thread_state.descriptor = fd;
    table* const all = known.load(std::memory_order_acquire);
    const uint32_t index = all == nullptr ? 0 : all->of_descriptor[fd].load(std::memory_order_acquire);
    if (index == 0) [[unlikely]]
        return find_out(fd);
    open_file& file = all->files[index];
    if (file.generation.load(std::memory_order_relaxed) != this_process().generation) [[unlikely]]
        return find_out(fd);
    return file.file.load(std::memory_order_relaxed) == known_files::ignored ? nullptr : &file;
}

/// The file that `fd` stands for as far as that is known already: `unknown` after it was closed. Asks nobody.
uint32_t file_of(int fd);

/// `fd` was opened a moment ago, by a path relative to `directory` where one is given.
open_file* opened(int fd, int flags, int directory, const char* path);

/// `to` was made a duplicate of `from`.
void duplicated(int from, int to);

/// `fd` is about to be closed: forgotten before, because another thread may get the same number at once.
void closing(int fd);
/// All from `first` to `last` are.
void closing_range(unsigned first, unsigned last);

/// Opens or creates a file and moves its descriptor out of the application's way; -errno when it cannot.
int open_out_of_the_way(const char* path, int flags);
/// Descriptors of our own: the application, which did not open them, cannot close them. At most `own_capacity`.
/// It may close or replace them all the same, by system calls that nobody sees: is_own tells.
inline constexpr int own_capacity = 8;
void own(int fd);
void disown(int fd);
/// True when `fd` is ours and stands for the file that it stood for when it became ours.
bool is_own(int fd);
/// Closes `fd`, if it still is ours, and forgets it.
void close_own(int fd);
/// All of them; -1 where there is none.
std::array<int, own_capacity> own_numbers();

/// In a forked child: what another thread of the parent held when it forked is nobody's now.
void after_fork();

/// Who moves a description's position: this process alone; perhaps those that it was forked from, and its children
/// (open_file::unseen_moves); or others, as was seen.
enum class movers : uint8_t { own, perhaps_others, others };

/// Where the next read (or write, which O_APPEND sends to the end) of `fd` begins; none where that has no meaning.
///
/// A position that others may move is asked of the kernel. As long as it turns out to be what was expected, it is asked
/// less and less often, down to each 64th time; once others have moved it in between, always. How many transfers may
/// have been believed at wrong places then, is told (unseen::position_was_moved).
int64_t position(int fd, open_file& file, bool writes);

/// As soon as the position matters for more than where a transfer is: asks the kernel if others may have moved it.
void know_position(int fd, open_file& file);

}  // namespace descriptors
}  // namespace halcyon::calls
