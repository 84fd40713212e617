#pragma once

#include <cstdint>

#include "base/shared_layout.hpp"
#include "logfs/container/format/run.hpp"

namespace halcyon::logfs {

/// One range of the file that one writer wrote, or made a hole.
struct piece {
    int64_t start = 0;
    int64_t end = 0;
    int64_t physical = 0;  ///< of `start`
    int64_t time_ns = 0;
    /// The single extent that this is a part of, where the times of its bytes lie on a line. It stays where it is for
    /// as long as the piece is used. So a byte has one time, whatever part of the extent is looked at. Null: all of it
    /// was written at `time_ns`.
    const run* line = nullptr;
    uint32_t dropping = 0;
    bool is_hole = false;
    uint8_t error_exponent = 0;  ///< 0: times are exact

    [[nodiscard]] int64_t time_at(int64_t position) const {
        return line == nullptr ? time_ns
                               : line->first_ns + run::share(line->span_ns(), position - line->start, line->length);
    }
    [[nodiscard]] int64_t error_ns() const { return error_exponent == 0 ? 0 : int64_t{1} << error_exponent; }

    void begin_at(int64_t position) {
        physical += position - start;
        start = position;
    }
    [[nodiscard]] piece until(int64_t position) const {
        piece part = *this;
        part.end = position;
        return part;
    }
    /// Only what lies in the range, which it overlaps.
    void clip(int64_t from, int64_t to) {
        if (from > start) begin_at(from);
        if (to < end) end = to;
    }
};

/// One range of the file as it reads now.
struct segment {
    static constexpr int64_t hole = -1;

    int64_t start = 0;
    int64_t length = 0;
    int64_t physical = hole;  ///< in the data dropping; hole: zeros
    uint32_t dropping = 0;

    [[nodiscard]] int64_t end() const { return start + length; }
    [[nodiscard]] bool is_hole() const { return physical == hole; }
    friend bool operator==(const segment&, const segment&) = default;
};

/// A single extent in little room, for files that are written in no order.
struct extent {
    static constexpr int64_t longest = INT32_MAX;
    /// Times are exact or as close as this.
    static constexpr uint32_t error_exponent = 18;

    int64_t start = 0;
    int64_t time_ns = 0;
    int64_t physical = 0;
    uint32_t length : 31 = 0;
    uint32_t is_exact : 1 = 0;
    uint32_t dropping = 0;

    [[nodiscard]] int64_t end() const { return start + length; }
};
static_assert(has_copied_layout<extent, 32, 8>());

/// A run and whose it is.
struct placed_run {
    run what;
    uint32_t dropping = 0;
    bool is_hole = false;
};
static_assert(has_copied_layout<placed_run, 72, 8>());

}  // namespace halcyon::logfs
