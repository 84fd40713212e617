#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "calls/call_record.hpp"

/// How a chunk of records becomes few bytes. Each member of call_record is a column; each value is replaced by its
/// difference from what the records before it make likely (the same stride in the same file by the same function, a
/// result as large as what was asked, a call that begins where the last one ended); then each column is stored as
/// nothing where all differences are zero, as one number where all are equal, and else as planes of its bytes, the
/// lowest first, zigzag so that small negative numbers are small, too. What is regular about an application's I/O is
/// gone after that; what is left is mostly the noise of its times. The planes of all columns are compressed together
/// by the caller.
///
/// Times are kept as floating-point numbers are: durations to 1/64, the gaps between calls to 1/32, neither ever worse
/// than 1,024 units (about a microsecond). Finer is noise that would cost more space than all else. Errors do not add
/// up: a gap is measured from where the reader will believe that the record before ended.
namespace halcyon::observe::trace {

inline constexpr uint32_t column_count = 14;
inline constexpr uint32_t largest_chunk = 65536;

/// Room that encode_columns needs for `records`.
inline constexpr size_t largest_planes(size_t records) {
    return column_count * (16 + 9 * records);
}

/// Writes the columns of `records` to `out`, which has largest_planes() bytes; returns how many. Times are divided by
/// `time_unit` (ticks). `scratch` has two elements for each record.
/// One call at a time in a process: what it needs besides is static.
size_t encode_columns(std::span<const calls::call_record> records, uint32_t time_unit, std::span<uint64_t> scratch,
                      unsigned char* out);

/// The opposite: fills `records`, times multiplied by the unit again. False when `planes` is not what encode_columns
/// writes for that many records.
bool decode_columns(std::span<const unsigned char> planes, uint32_t time_unit, std::span<calls::call_record> records);

}  // namespace halcyon::observe::trace
