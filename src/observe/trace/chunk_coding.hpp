#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "calls/record/call_record.hpp"
#include "observe/trace/adaptive_bits.hpp"
#include "observe/trace/column_planes.hpp"

/// How a chunk of records becomes few bytes. Each member of call_record is a column; each value is replaced by a number
/// that is small where the records before make it likely (columns.hpp): the same stride in the same file by the same
/// function, a result as large as what was asked, a call that begins where the last one ended. What is regular about an
/// application's I/O is gone after that; what is left is mostly the noise of its times.
///
/// The numbers are written in one of two ways: as planes of bytes, which the caller compresses (column_planes.hpp), or
/// as bits of learnt probability (column_numbers.hpp), slower and a fifth smaller.
///
/// Times are kept as floating-point numbers are (times.hpp): durations to 1/64, the gaps between calls to 1/32, neither
/// ever worse than 1,024 units (about a microsecond). Finer is noise that would cost more space than all else. Errors
/// do not add up: a gap is measured from where the reader will believe that the record before ended, or, for a call
/// during which others were made, that the first of these began.
namespace halcyon::observe::trace {

inline constexpr uint32_t largest_chunk = 65536;

/// Room that encode_columns needs for `records`: 20 columns of 9 bytes at least; 16 of up to 8 bytes for each record,
/// three of one.
inline constexpr size_t largest_planes(size_t records) {
    return size_t{180} + size_t{131} * records;
}

/// How many elements of scratch the functions below need for `records`.
inline constexpr size_t scratch_for(size_t records) {
    return 3 * records;
}

/// Writes the columns of `records` as planes to `out`, which has largest_planes() bytes; returns how many, and where
/// planes end. Times are divided by `time_unit` (ticks).
/// One call at a time in a process, of this or of encode_bits: what they need besides is static.
size_t encode_columns(std::span<const calls::call_record> records, uint32_t time_unit, std::span<uint64_t> scratch,
                      unsigned char* out, plane_ends& ends);

/// The same as bits. 0: they do not fit into `out`.
size_t encode_bits(std::span<const calls::call_record> records, uint32_t time_unit, std::span<uint64_t> scratch,
                   bit_model& model, std::span<unsigned char> out);

/// The opposites: fill `records`, times multiplied by the unit again. False when the bytes are not what would have been
/// written for that many records. `version` is the format's (trace_format.hpp) that they were written in.
bool decode_columns(uint32_t version, std::span<const unsigned char> planes, uint32_t time_unit,
                    std::span<uint64_t> scratch, std::span<calls::call_record> records);
bool decode_bits(uint32_t version, std::span<const unsigned char> bits, uint32_t time_unit, std::span<uint64_t> scratch,
                 bit_model& model, std::span<calls::call_record> records);

}  // namespace halcyon::observe::trace
