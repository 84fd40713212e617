#pragma once

#include <algorithm>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::logfs {

/// No writer is given a later time to go on from (the year 2116), so that none comes near the largest number.
inline constexpr int64_t furthest_ns = INT64_MAX / 2;

/// Writes of one writer, one after another, as a pattern: element i are the `length` bytes at `start + i * stride` of
/// the file, which lie at `physical + i * length` of the data dropping. A single extent has a count of 1, and may be
/// made of many writes, each of which began where the last one had ended.
///
/// Elements of a pattern do not overlap: |stride| >= length, or 0 where each element replaces the last one.
///
/// Times are kept as a line from `first_ns` to `last_ns`: over the elements of a pattern, over the bytes of a single
/// extent. Each differs from the time of the write by at most error_ns(), and none lies after the last write.
struct run {
    int64_t start = 0;
    int64_t length = 0;
    int64_t stride = 0;
    int64_t count = 0;
    int64_t physical = 0;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    uint32_t error_exponent = 0;  ///< 0: times are exact
    uint32_t reserved = 0;

    [[nodiscard]] bool is_pattern() const { return count > 1; }
    [[nodiscard]] int64_t bytes() const { return length * count; }
    [[nodiscard]] int64_t physical_end() const { return physical + bytes(); }
    [[nodiscard]] int64_t start_of(int64_t element) const { return start + element * stride; }
    [[nodiscard]] int64_t last_start() const { return start_of(count - 1); }
    /// Of all elements.
    [[nodiscard]] int64_t low() const { return std::min(start, last_start()); }
    [[nodiscard]] int64_t high() const { return std::max(start, last_start()) + length; }
    [[nodiscard]] int64_t error_ns() const { return error_exponent == 0 ? 0 : int64_t{1} << error_exponent; }
    [[nodiscard]] int64_t span_ns() const { return last_ns - first_ns; }

    /// Of an element of a pattern.
    [[nodiscard]] int64_t time_of(int64_t element) const { return first_ns + share(span_ns(), element, count - 1); }

    /// `whole * part / of`, where the product may need more than 64 bits.
    static int64_t share(int64_t whole, int64_t part, int64_t of) {
        int64_t product = 0;
        if (of <= 0 || whole == 0) return 0;
        if (!__builtin_mul_overflow(whole, part, &product)) [[likely]]
            return product / of;
        return static_cast<int64_t>(static_cast<wide>(whole) * part / of);
    }

    friend bool operator==(const run&, const run&) = default;

  private:
    __extension__ typedef __int128 wide;
};
static_assert(has_copied_layout<run, 64, 8>());

}  // namespace halcyon::logfs
