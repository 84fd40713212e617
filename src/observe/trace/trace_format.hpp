#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/shared_layout.hpp"

/// The files that one process leaves: `<host>.<pid>.<start>.trace`, and beside it `….ring` while it runs. One that
/// cannot be recorded leaves an empty `….unrecorded`.
///
/// A trace is a file_header and then sections. A section is a section_header and its payload, filled up to a multiple
/// of 8 bytes. Sections are appended by several threads: each reserves its place first, so that a process that is
/// killed in between leaves a hole of zeros, which readers step over. Numbers are in the byte order of the machine that
/// wrote them; `byte_order` in the file header tells which that is.
///
/// While a process runs, its full chunks are compressed by zstd, quickly; what it ends with is written as bits of
/// learnt probability (adaptive_bits.hpp), in fewer bytes.
///
/// Versions: 1 had zstd throughout, other columns, and times in front of them; it is not read any more. 2 had no
/// contexts, and check sums without the version. 3 had no calls of level log.
///
/// A ring holds what is not in the trace yet: a ring_header, notes, and then chunks of slots for records. After a clean
/// end it is gone; after a kill, its slots are the last calls.
namespace halcyon::observe::trace {

inline constexpr char trace_magic[8] = {'H', 'A', 'L', 'C', 'Y', 'O', 'N', 'T'};
inline constexpr char ring_magic[8] = {'H', 'A', 'L', 'C', 'Y', 'O', 'N', 'R'};
inline constexpr uint32_t format_version = 4;
inline constexpr uint32_t oldest_version_read = 2;
inline constexpr uint32_t version_with_contexts = 3;
inline constexpr uint32_t byte_order_mark = 0x01020304;
/// As readers find it in absences.
inline constexpr std::string_view shut_out_processes = "processes that could not write to the run's folder";
inline constexpr uint32_t section_magic = 0x54434553;  // "SECT"

/// Where the tick counter stood at a moment of the node's clocks.
struct anchor {
    int64_t ticks;
    int64_t monotonic_ns;  ///< CLOCK_MONOTONIC
    int64_t realtime_ns;   ///< CLOCK_REALTIME, since 1970
};

struct file_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
};

enum class section_kind : uint32_t {
    process = 1,  ///< process_section, then host, program, command, clock: each ended by 0
    notes,        ///< notes_section, then notes (notes.hpp), compressed
    chunk,        ///< chunk_section, then columns (chunk_coding.hpp), compressed
    end,          ///< end_section
};

struct section_header {
    uint32_t magic;
    uint32_t kind;
    uint32_t bytes;  ///< of the payload, without what fills it up
    uint32_t check;  ///< check_of(version, kind, payload)
};

struct process_section {
    int64_t pid;
    int64_t parent_pid;
    anchor start;
    uint32_t time_unit_ticks;  ///< times in chunks are in units of so many ticks
    uint32_t reserved;
};

enum class notes_coding : uint32_t {
    zstd = 1,
    bits,  ///< note_bits.hpp
};

struct notes_section {
    uint32_t bytes;  ///< of the notes before compression
    notes_coding coding;
};

struct function_section {
    uint16_t id;
    uint8_t level;  ///< calls::level
    uint8_t kind;   ///< calls::kind
    uint32_t reserved;
};

struct file_section {
    uint32_t id;
    uint32_t filesystem;  ///< f_type of statfs
    int64_t block_bytes;
};

struct fact_section {
    uint32_t file;
    uint32_t reserved;
    int64_t ticks;
};

struct absence_section {
    uint64_t count;
};

struct chunk_section {
    uint32_t count;        ///< records
    uint32_t plane_bytes;  ///< of the columns before compression by zstd; 0: they are bits (column_numbers.hpp)
    uint64_t sequence;     ///< chunks of a process in the order in which they were begun
    anchor now;
};

struct end_section {
    uint32_t how;  ///< calls::ending
    uint32_t reserved;
    uint64_t lost;
    anchor now;
};

static_assert(has_copied_layout<anchor, 24, 8>() && has_copied_layout<file_header, 16, 4>());
static_assert(has_copied_layout<section_header, 16, 4>() && has_copied_layout<process_section, 48, 8>());
static_assert(has_copied_layout<notes_section, 8, 4>() && has_copied_layout<function_section, 8, 4>());
static_assert(has_copied_layout<file_section, 16, 8>() && has_copied_layout<fact_section, 16, 8>());
static_assert(has_copied_layout<absence_section, 8, 8>() && has_copied_layout<chunk_section, 40, 8>());
static_assert(has_copied_layout<end_section, 40, 8>());

/// Tells damage apart from data; not meant against malice. From version 3 on a changed version does not fit either.
inline uint32_t check_of(uint32_t version, uint32_t kind, const void* payload, size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(payload);
    uint64_t hash = 0x9E3779B97F4A7C15u ^ (uint64_t{kind} << 32 | bytes);
    if (version > 2) hash ^= uint64_t{version} << 48;
    while (bytes > 0) {
        uint64_t word = 0;
        const size_t taken = bytes < sizeof word ? bytes : sizeof word;
        std::memcpy(&word, at, taken);
        hash = (hash ^ word) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 29;
        at += taken;
        bytes -= taken;
    }
    return static_cast<uint32_t>(hash ^ hash >> 32);
}

inline size_t filled_up(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

}  // namespace halcyon::observe::trace
