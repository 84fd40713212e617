#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/writing/run_builder.hpp"

namespace halcyon::logfs {

/// The index dropping of one writer. It lies in a mapped file: what was added survives the process. Where a file system
/// cannot map (GlusterFS with direct I/O), or where a full disk would end the process for it (btrfs, ZFS), each change
/// is written by a system call instead.
///
/// One thread. -errno where something fails; then the dropping holds what it held before, and takes no more, unless it
/// was make_room() that failed, or the sync of a commit, or there was no room on the device.
class index_writer {
  public:
    explicit index_writer(file_calls& calls) : calls_(calls) {}
    index_writer(const index_writer&) = delete;
    index_writer& operator=(const index_writer&) = delete;
    ~index_writer() { abandon(); }

    /// A new file; `may_map`: false to write as if the file system could not map.
    int create(int directory, const char* path, const index_header& header, bool may_map);

    /// Room for what one call of those below adds, and a check beside it: to be asked before the data are written, so
    /// that a full disk is told while nothing has happened.
    int make_room();

    int add_write(int64_t start, int64_t length, int64_t physical, int64_t now_ns);
    /// Anything but a run; it is later than all writes before it. `epoch` raises the epoch of the state.
    int add(const record& what);
    /// The sum over the data that follow those of the last check.
    int add_check(int64_t bytes, uint32_t sum);
    /// A record that another index dropping held.
    int add_again(const record& what);
    /// Nothing is added to the runs before: their times end here.
    int finish_runs();
    /// What is there up to now is part of what a crash of the node leaves; the data must be on the disk by now.
    int commit(int64_t now_ns);
    /// What is there is on the device; no commit says so.
    int sync() { return calls_.sync(fd_); }
    /// Nothing follows, unless something is added all the same: writer_rests.
    int rest();
    /// Nothing follows. Gives back room that was reserved.
    int close();
    /// Forgets the file, in a forked child, or after a failure.
    void abandon();

    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    [[nodiscard]] bool is_mapped() const { return is_mapped_; }
    /// But for its runs.
    [[nodiscard]] const state_slot& state() const { return state_; }
    /// Nothing was added yet.
    [[nodiscard]] bool is_empty() const { return state_.sequence <= 1; }
    /// No record and no run lies behind this place.
    [[nodiscard]] bool ends_at(const stream_place& place) const { return state_.runs == 0 && state_.end == place; }
    [[nodiscard]] bool has_uncommitted() const { return has_uncommitted_; }
    /// The last change found no room, and was taken back: it can be tried again.
    [[nodiscard]] bool has_taken_back() const { return has_taken_back_; }
    [[nodiscard]] int64_t file_bytes() const { return block_at(state_.end.block) + block_used(); }

  private:
    /// At multiples of itself in the file, which are multiples of any page's size.
    static constexpr size_t window_bytes = 65536;
    static constexpr uint32_t first_blocks = 1;
    static constexpr uint32_t most_blocks_at_once = 256;
    /// Three records: two runs and what was added behind them.
    static constexpr uint32_t room_ahead = 3 * (longest_record + record_check_bytes);

    [[nodiscard]] int64_t block_used() const {
        return static_cast<int64_t>(sizeof(block_header)) + static_cast<int64_t>(state_.end.used);
    }
    static size_t place_in_window(uint32_t block) { return static_cast<size_t>(block_at(block)) % window_bytes; }
    int reserve_blocks(uint32_t blocks);
    int map_window(uint32_t block, std::byte*& window);
    int begin_next_block();
    int place_block(uint32_t number);
    int write_head(const index_header& header);
    int append(const record& what);
    int append_run(const run& what);
    void note_change(const record& what);
    int publish();
    int write_part(const std::byte* from, int64_t offset, size_t bytes);
    void take_back();
    int read_block();
    void passed(const char* step) {
        if (calls_.watches_steps()) [[unlikely]]
            calls_.passed(step);
    }

    file_calls& calls_;
    int fd_ = -1;
    int broken_ = 0;  // no more is added since this failed
    bool is_mapped_ = false;
    std::byte* head_ = nullptr;         // mapped, or a page of this process
    std::byte* window_ = nullptr;       // mapped: the blocks around the current one; else that one
    std::byte* next_window_ = nullptr;  // mapped ahead
    std::byte* block_ = nullptr;        // the current one
    uint32_t reserved_blocks_ = 0;
    uint64_t salt_ = 0;
    uint32_t salt_check_ = 0;  // where the check of each state begins
    bool has_uncommitted_ = false;
    coding_base base_;
    run_builder runs_;
    state_slot state_{};  // but for its runs, which are in `runs_`, and its check
    // Where it is written: what was published last.
    struct {
        state_slot state;
        coding_base base;
        run_builder runs;
    } published_{};
    bool has_taken_back_ = false;  // and the block in memory is not that of the state any more
};

}  // namespace halcyon::logfs
