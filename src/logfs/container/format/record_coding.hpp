#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "logfs/container/format/format.hpp"
#include "logfs/container/format/run.hpp"

/// A record: a byte that says its kind and what it leaves out, numbers (varint.hpp), and its check: the sum of the
/// block up to here, which goes into the sum itself. So records can be taken one by one where a block was cut, and a
/// whole block is checked in one piece.
///
/// The numbers of a run are differences from the run before; what is as there, or follows from it, is left out.
namespace halcyon::logfs {

enum class record_kind : uint8_t {
    run = 1,
    hole,        ///< [start, start + length) reads as zeros from first_ns on
    cut,         ///< the file ends at `start`, at first_ns
    reach,       ///< the file reaches to `start` at least, from first_ns on
    epoch,       ///< first_ns: an epoch was raised; all that follows is later
    data_check,  ///< `sum` is that of the next `length` bytes of the data dropping
};

struct record {
    record_kind kind = record_kind::run;
    run what;
    uint32_t sum = 0;

    friend bool operator==(const record&, const record&) = default;
};

inline constexpr size_t longest_record = 80;
inline constexpr size_t record_check_bytes = 4;

/// Writes the record without its check; the number of bytes. `base` goes on.
size_t encode_record(const record& what, coding_base& base, std::byte* out);

/// Takes a record, without its check, from bytes that may be wrong; the number of its bytes, 0: this is none. What is
/// returned makes sense: no number of it overflows, and elements do not overlap.
size_t decode_record(std::span<const std::byte> from, coding_base& base, record& out);

/// What is written as the check of a record behind which the sum is `sum`. Not the sum itself: bytes that end with
/// their own sum all have the same.
inline uint32_t record_check(uint32_t sum) {
    return std::rotr(sum, 15) + 0x9e3779b9u;
}

/// Whether the numbers of a run make sense.
bool is_sound(const run& what);

}  // namespace halcyon::logfs
