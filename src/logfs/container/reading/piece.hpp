#pragma once

#include <cstdint>

#include "base/shared_layout.hpp"
#include "logfs/container/format/run.hpp"

namespace halcyon::logfs {

/// One range of the file that one writer wrote, or made a hole. Times of its bytes lie on a line from its first byte to
/// behind its last.
struct piece {
    int64_t start = 0;
    int64_t end = 0;
    int64_t physical = 0;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    uint32_t dropping = 0;
    bool is_hole = false;
    uint8_t error_exponent = 0;  ///< 0: times are exact

    [[nodiscard]] int64_t time_at(int64_t position) const {
        return first_ns == last_ns ? first_ns
                                   : first_ns + run::share(last_ns - first_ns, position - start, end - start);
    }
    [[nodiscard]] int64_t error_ns() const { return error_exponent == 0 ? 0 : int64_t{1} << error_exponent; }
    /// Only what lies in the range, which it overlaps.
    void clip(int64_t from, int64_t to) {
        piece part = *this;
        if (from > start) {
            part.first_ns = time_at(from);
            part.physical += from - start;
            part.start = from;
        }
        if (to < end) {
            part.last_ns = time_at(to);
            part.end = to;
        }
        *this = part;
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
