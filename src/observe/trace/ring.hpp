#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"
#include "calls/record/call_record.hpp"
#include "observe/trace/section_coding.hpp"
#include "observe/trace/trace_format.hpp"

namespace halcyon::observe::trace {

/// What stands at the beginning of a ring file.
struct ring_header {
    static constexpr uint32_t most_chunks = 64;
    /// held: written to the trace but for slots that threads took and have not filled.
    enum state : uint32_t { unused = 0, open, closed, held };

    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t record_bytes;
    uint32_t chunk_records;
    uint32_t chunk_count;
    std::atomic<uint32_t> lost;        ///< calls not recorded since the trace could not be written
    anchor last;                       ///< the most recent; kept fresh for a process that is killed
    std::atomic<uint32_t> ended;       ///< calls::ending + 1, where the trace could not be told
    std::atomic<uint32_t> note_bytes;  ///< of notes that are not in the trace yet
    struct {
        std::atomic<uint32_t> state;
        std::atomic<uint64_t> sequence;  ///< order of the chunks
    } chunks[most_chunks];
    std::atomic<uint32_t> shut_out;  ///< children that could not begin a trace: they count themselves here
};

inline constexpr size_t ring_header_bytes = 4096;
static_assert(sizeof(ring_header) <= ring_header_bytes);
static_assert(has_shared_layout<ring_header, 1096, 8>() && are_shared_atomics<uint32_t, uint64_t>);
static_assert(offsetof(ring_header, lost) == 28 && offsetof(ring_header, last) == 32 &&
              offsetof(ring_header, ended) == 56 && offsetof(ring_header, note_bytes) == 60);
static_assert(offsetof(ring_header, chunks) == 64 && offsetof(ring_header, shut_out) == 1088);
inline constexpr size_t ring_note_bytes = 61440;
inline constexpr size_t ring_chunks_at = ring_header_bytes + ring_note_bytes;

inline constexpr size_t chunk_bytes = chunk_records * sizeof(calls::call_record);
inline constexpr size_t ring_page = 4096;
inline constexpr size_t ring_chunk_bytes = (chunk_bytes + ring_page - 1) / ring_page * ring_page;
inline constexpr size_t chunk_at(uint32_t chunk) {
    return ring_chunks_at + chunk * ring_chunk_bytes;
}

/// A ring file that is mapped: whose it is says its record_buffer.
struct ring {
    ring_header* header = nullptr;
    char* mapping = nullptr;

    [[nodiscard]] calls::call_record* slots_of(uint32_t chunk) const {
        return reinterpret_cast<calls::call_record*>(mapping + chunk_at(chunk));
    }
};

/// 0 while the slot is not written.
inline int64_t start_of(calls::call_record& slot) {
    return std::atomic_ref(slot.start).load(std::memory_order_acquire);
}

}  // namespace halcyon::observe::trace
