#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "observe/trace/ring.hpp"
#include "observe/trace/section_coding.hpp"
#include "observe/trace/trace_file.hpp"

namespace halcyon::observe::trace {

/// Brings the chunks of a ring into the trace, one at a time, under a lock: whichever thread has it codes. The other
/// threads' slots are read only (record_buffer says who writes them); the states closed and held, and the sequence of
/// a chunk that is in them, are changed under the lock alone.
///
/// A slot that was taken and is not written yet stays its thread's: the chunk is held for it, its other records go to
/// the trace, and the late one follows them.
class chunk_coder {
  public:
    /// `waits_in_vain`: counted together with the other waits of the buffer (calls/state/patience.hpp).
    constexpr explicit chunk_coder(std::atomic<uint32_t>& waits_in_vain) : waits_in_vain_(waits_in_vain) {}

    void begin(const ring& of, trace_file& out, uint32_t time_unit);
    /// In a forked child.
    void forget();

    /// Codes the oldest closed chunk, or what came late in one. False when there is none, or another thread is at it.
    bool code_next();

    /// False when another thread holds it for too long.
    bool lock();
    void unlock();
    /// Under the lock, at the end: what is missing still is added to `lost`. `used`: slots of the chunk that were
    /// taken.
    bool code_last(uint32_t chunk, uint32_t used, uint32_t& lost);
    /// Under the lock: one record that is in no chunk.
    bool write(const calls::call_record& record);
    /// Under the lock.
    bool write_notes(std::string_view notes);

    /// Of a chunk that is opened now.
    uint64_t next_sequence() { return last_sequence_.fetch_add(1) + 1; }
    [[nodiscard]] bool has_records(uint32_t chunk) const;

    /// From now on nothing is coded by code_next(), and all that comes is the last.
    void end() { is_ending_.store(true, std::memory_order_release); }
    [[nodiscard]] bool is_ending() const { return is_ending_.load(std::memory_order_relaxed); }

  private:
    /// Slots of a chunk, by their numbers.
    using slot_set = std::bitset<chunk_records>;

    [[nodiscard]] uint32_t oldest_closed() const;
    [[nodiscard]] uint32_t held_with_late_record() const;
    bool code(uint32_t chunk, const slot_set& wanted);
    bool code_written(uint32_t chunk, const slot_set& wanted);
    bool write_chunk(const calls::call_record* records, uint32_t count, uint64_t sequence);
    [[nodiscard]] moment now() const { return is_ending() ? moment::ending : moment::running; }

    ring ring_;
    trace_file* out_ = nullptr;
    uint32_t time_unit_ = 1;
    std::atomic<bool> is_ending_{false};
    std::atomic<uint32_t> lock_{0};
    std::atomic<uint32_t>& waits_in_vain_;
    std::atomic<uint64_t> last_sequence_{0};
    slot_set missing_[ring_header::most_chunks];  // of the chunks that are held; under the lock
};

/// This moment on all clocks.
anchor anchor_now();

}  // namespace halcyon::observe::trace
