#pragma once

#include <atomic>
#include <cstdint>

#include "calls/record/call_record.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/own_thread.hpp"
#include "observe/trace/chunk_coder.hpp"
#include "observe/trace/notes.hpp"
#include "observe/trace/ring.hpp"
#include "observe/trace/trace_file.hpp"
#include "observe/trace/trace_format.hpp"

namespace halcyon::observe::trace {

/// The calls that are not in the trace yet: chunks of slots in a mapped file, so that they outlive a kill.
///
/// Any thread appends: it takes the next slot of the open chunk with one atomic addition and writes the record, `start`
/// last. A slot whose `start` is 0 is not written. The thread that finds the chunk full opens an unused one, the
/// lowest, so that a process whose records are coded quickly touches little memory. Chunks are coded one at a time,
/// under `coding lock`: by a thread of our own that each full chunk starts anew, and by the application's threads when
/// there is no unused chunk, or no such thread. Appending is never interrupted by itself: calls of a signal handler
/// that interrupts it pass unrecorded (calls::own_work).
///
/// A signal's handler neither interrupts a thread that codes or notes, nor jumps away from there; from a slot that it
/// has taken it may, and leaves that behind as `abandoned`.
///
/// Nobody waits for another thread without end (calls/state/patience.hpp). After some seconds the work is taken over,
/// or left to readers of the ring. A slot stays its thread's for as long as that takes: a chunk is not used again
/// before each of its slots was filled. Meanwhile its other records go to the trace, and the late one follows them.
class record_buffer {
  public:
    /// Maps `<path>` with room for `bytes`. False when it cannot, with errno in `error`.
    bool create(const char* path, size_t bytes, trace_file& out, uint32_t time_unit, int& error);

    void append(const calls::call_record& record);

    /// Adds a note, behind which everything that refers to it comes. False when it could not be kept.
    bool note(note_kind kind, std::string_view section, std::string_view text);
    template <class Write>
    bool note_written(note_kind kind, std::string_view section, Write write) {
        return add_note([&] { return notes_.add_written(kind, section, write); });
    }
    bool note_file(const file_section& file, std::string_view path);

    /// Codes all that was appended and removes the file. What is appended later goes to the trace at once.
    void flush();

    /// The process ends, and its trace cannot be written any more.
    void note_end(uint32_t how);

    [[nodiscard]] uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

    /// Forgets what it had.
    void abandon();

    /// In a forked child: forgets what the parent had, but for the page on which the child tells it if it cannot
    /// record.
    void leave_parent();
    /// This process records.
    void forget_parent();
    /// It cannot: counted by the nearest process that it was forked from and that records.
    void tell_parent();
    /// Children that have told so since this was asked last.
    uint32_t take_shut_out();

    /// Whether our own thread is at work: a buffer may not be destroyed meanwhile.
    [[nodiscard]] bool codes() const { return coder_.runs(); }
    [[nodiscard]] calls::own_thread& coder() { return coder_; }

  private:
    [[nodiscard]] calls::call_record* slot_at(uint64_t taken) const;
    void append_to_trace(const calls::call_record& record);
    bool await_chunk(uint32_t full, bool is_first);
    bool replace_chunk(uint32_t full);
    bool open_chunk(uint32_t& chunk);
    template <class Add>
    bool add_note(Add add);
    bool write_notes();
    bool flush_notes();
    void count_lost(uint32_t calls);
    void wake_coder();
    void refresh_anchor();
    int descriptor();
    bool give_blocks(int64_t offset, int64_t bytes);
    bool lock_notes();
    void unlock_notes();
    static void code_all(void* buffer);

    // Chunk in the upper half, next slot in the lower.
    alignas(64) std::atomic<uint64_t> next_{0};
    alignas(64) ring_header* header_ = nullptr;
    char* mapping_ = nullptr;
    size_t mapping_bytes_ = 0;
    ring_header* parent_ = nullptr;
    std::atomic<uint32_t> waits_in_vain_{0};
    chunk_coder coding_{waits_in_vain_};
    int fd_ = -1;
    trace_file* out_ = nullptr;
    std::atomic<uint32_t> allocated_{0};  // chunks for which the file has blocks
    char path_[trace_file::longest_path] = {};
    std::atomic<uint64_t> lost_{0};
    std::atomic<uint32_t> note_lock_{0};  // taken before the coding lock where both are
    note_writer notes_;
    calls::own_thread coder_;
    int64_t next_anchor_ = 0;   // ticks
    int64_t anchor_after_ = 0;  // ticks
};

template <class Add>
bool record_buffer::add_note(Add add) {
    const calls::blocked_signals whole;
    if (header_ == nullptr || out_->failed() || !lock_notes()) return false;
    bool added = add() || (write_notes() && add());
    if (added) header_->note_bytes.store(static_cast<uint32_t>(notes_.used()), std::memory_order_release);
    if (coding_.is_ending()) added = write_notes() && added;
    unlock_notes();
    return added;
}

}  // namespace halcyon::observe::trace
