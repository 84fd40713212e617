#include "observe/trace/chunk_coder.hpp"

#include <algorithm>
#include <span>

#include "base/clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/patience.hpp"

namespace halcyon::observe::trace {
namespace direct = calls::direct;
using calls::call_record;

namespace {

/// Waiting, in one chunk, for slots that were taken and not written yet, by threads that lost their cores in between.
/// Others wait for the coding lock meanwhile, with `patience`, and lose records where that ends: on a busy machine the
/// processor comes back from each turn given away after milliseconds, so that turns alone do not bound the wait.
class late_slots {
  public:
    /// Gives the processor away; false when the wait has been long enough.
    bool wait() {
        if (turns_ == most_turns) return false;
        direct::yield();
        const int64_t now = monotonic_ns();
        if (turns_++ == 0) since_ = now;
        if (now - since_ >= longest_ns) turns_ = most_turns;
        return turns_ < most_turns;
    }

  private:
    static constexpr int most_turns = 10'000;
    static constexpr int64_t longest_ns = 100'000'000;

    int turns_ = 0;
    int64_t since_ = 0;
};

}  // namespace

anchor anchor_now() {
    return {calls::ticks(), monotonic_ns(), realtime_ns()};
}

void chunk_coder::begin(const ring& of, trace_file& out, uint32_t time_unit) {
    ring_ = of;
    out_ = &out;
    time_unit_ = time_unit;
}

void chunk_coder::forget() {
    ring_ = {};
    is_ending_ = false;
    last_sequence_ = 0;
    lock_ = 0;
}

bool chunk_coder::lock() {
    calls::patience wait(waits_in_vain_);
    while (lock_.exchange(1, std::memory_order_acquire) != 0) {
        if (!wait.wait()) return false;
    }
    return true;
}

void chunk_coder::unlock() {
    lock_.store(0, std::memory_order_release);
}

/// The closed chunk that was begun first; most_chunks: there is none.
uint32_t chunk_coder::oldest_closed() const {
    uint32_t oldest = ring_header::most_chunks;
    for (uint32_t i = 0; i < ring_.header->chunk_count; ++i) {
        if (ring_.header->chunks[i].state.load(std::memory_order_acquire) != ring_header::closed) continue;
        if (oldest == ring_header::most_chunks ||
            ring_.header->chunks[i].sequence.load(std::memory_order_relaxed) <
                ring_.header->chunks[oldest].sequence.load(std::memory_order_relaxed)) {
            oldest = i;
        }
    }
    return oldest;
}

/// A chunk in which a thread has filled a slot that was missing when the chunk was coded; most_chunks: there is none.
uint32_t chunk_coder::held_with_late_record() const {
    for (uint32_t i = 0; i < ring_.header->chunk_count; ++i) {
        if (ring_.header->chunks[i].state.load(std::memory_order_acquire) != ring_header::held) continue;
        call_record* slots = ring_.slots_of(i);
        for (uint32_t slot = 0; slot < chunk_records; ++slot) {
            if (missing_[i][slot] && start_of(slots[slot]) != 0) return i;
        }
    }
    return ring_header::most_chunks;
}

bool chunk_coder::code_next() {
    const calls::blocked_signals whole;
    if (is_ending()) return false;
    if (lock_.exchange(1, std::memory_order_acquire) != 0) return false;
    bool coded_one = false;
    if (const uint32_t closed = oldest_closed(); closed != ring_header::most_chunks)
        coded_one = code(closed, slot_set().set());
    else if (const uint32_t held = held_with_late_record(); held != ring_header::most_chunks)
        coded_one = code(held, missing_[held]);
    unlock();
    return coded_one;
}

/// Codes the `wanted` slots of a chunk. False when the trace cannot be written: then the records stay where they are,
/// for readers of the ring.
bool chunk_coder::code(uint32_t chunk, const slot_set& wanted) {
    call_record* slots = ring_.slots_of(chunk);
    late_slots late;
    const size_t count = wanted.count();
    bool in_place = (wanted >> count).none();
    for (uint32_t i = 0; i < chunk_records; ++i) {
        if (!wanted[i]) continue;
        while (start_of(slots[i]) == 0 && late.wait()) continue;
        const int64_t start = start_of(slots[i]);
        if (start == 0 || start == calls::abandoned) in_place = false;
    }
    if (!in_place) return code_written(chunk, wanted);
    const uint64_t sequence = ring_.header->chunks[chunk].sequence.load(std::memory_order_relaxed);
    if (!write_chunk(slots, static_cast<uint32_t>(count), sequence)) return false;
    for (uint32_t i = 0; i < count; ++i) slots[i].start = 0;
    ring_.header->chunks[chunk].state.store(ring_header::unused, std::memory_order_release);
    return true;
}

/// As code, where some of the slots are not written. They stay their threads', and the chunk is held for them: under
/// another sequence number, because readers pass over a ring's chunk of which the trace has the number.
bool chunk_coder::code_written(uint32_t chunk, const slot_set& wanted) {
    auto* gathered = static_cast<call_record*>(direct::map_memory(chunk_bytes));
    if (gathered == nullptr) return false;
    call_record* slots = ring_.slots_of(chunk);
    auto& entry = ring_.header->chunks[chunk];
    slot_set written;
    uint32_t count = 0;
    for (uint32_t i = 0; i < chunk_records; ++i) {
        const int64_t start = wanted[i] ? start_of(slots[i]) : 0;
        if (start == 0) continue;
        written.set(i);
        if (start != calls::abandoned) gathered[count++] = slots[i];
    }
    const bool kept = write_chunk(gathered, count, entry.sequence.load(std::memory_order_relaxed));
    direct::call(SYS_munmap, direct::address(gathered), chunk_bytes);
    if (!kept) return false;
    for (uint32_t i = 0; i < chunk_records; ++i) {
        if (written[i]) slots[i].start = 0;
    }
    missing_[chunk] = wanted & ~written;
    if (missing_[chunk].any()) entry.sequence.store(next_sequence(), std::memory_order_relaxed);
    entry.state.store(missing_[chunk].any() ? ring_header::held : ring_header::unused, std::memory_order_release);
    return true;
}

bool chunk_coder::has_records(uint32_t chunk) const {
    const std::span<call_record> slots(ring_.slots_of(chunk), chunk_records);
    return std::ranges::any_of(slots, [](call_record& slot) { return start_of(slot) != 0; });
}

bool chunk_coder::code_last(uint32_t chunk, uint32_t used, uint32_t& lost) {
    auto& entry = ring_.header->chunks[chunk];
    const uint32_t state = entry.state.load(std::memory_order_acquire);
    if (state == ring_header::unused || used == 0) return true;
    const slot_set taken = used >= chunk_records ? slot_set().set() : slot_set().set() >> (chunk_records - used);
    if (!code(chunk, state == ring_header::held ? missing_[chunk] : taken)) return false;
    if (entry.state.load(std::memory_order_relaxed) == ring_header::held)
        lost += static_cast<uint32_t>(missing_[chunk].count());
    return true;
}

bool chunk_coder::write_chunk(const call_record* records, uint32_t count, uint64_t sequence) {
    if (count == 0) return true;
    const chunk_section section{count, 0, sequence, anchor_now()};
    const std::string_view payload = coded_chunk({records, count}, time_unit_, section, now());
    return !payload.empty() && out_->append(section_kind::chunk, payload);
}

bool chunk_coder::write(const call_record& record) {
    return write_chunk(&record, 1, next_sequence());
}

bool chunk_coder::write_notes(std::string_view notes) {
    const std::string_view payload = coded_notes(notes, now());
    return !payload.empty() && out_->append(section_kind::notes, payload);
}

}  // namespace halcyon::observe::trace
