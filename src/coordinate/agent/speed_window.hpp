#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "coordinate/estimates/begun_bytes.hpp"

namespace halcyon::coordinate {

/// Times long enough that their bytes tell a speed. Bytes count when a call begins, so a report is wrong by as many
/// calls as are under way, and the fastest of many short ones is a multiple of the speed. A window ends when nothing is
/// under way, or when so many calls have begun in it that those at its ends are few.
class speed_window {
  public:
    using moved = begun_bytes::moved;
    static constexpr double least_s = 0.02;
    /// Times the calls under way at once.
    static constexpr int64_t least_calls = 8;

    /// A report. Returns the window that ends with it; none: seconds of 0.
    moved add(int64_t bytes, double seconds, int64_t under_way) {
        if (bytes > 0) call_bytes_ = call_bytes_ == 0 ? bytes : std::min(call_bytes_, bytes);
        if (now_.bytes > 0 || bytes > 0) since_s_ += seconds;
        if (const auto known = begun_.add(bytes, seconds, under_way > 0)) {
            now_.bytes += known->bytes;
            now_.seconds += known->seconds;
        }
        const bool known_all = under_way == 0;
        if (now_.seconds < least_s || (!known_all && now_.bytes < least_calls * under_way * call_bytes_)) return {};
        now_.begun_ago_s = since_s_;
        // What has begun since what is known of is of the next one.
        since_s_ = known_all ? 0 : std::max(0.0, since_s_ - now_.seconds);
        return std::exchange(now_, {});
    }
    /// What comes is to be told apart from what was.
    void change() {
        now_ = {};
        since_s_ = 0;
        begun_.clear();
    }
    /// The phase is over.
    void clear() {
        change();
        call_bytes_ = 0;
    }

  private:
    begun_bytes begun_;
    moved now_;
    double since_s_ = 0;      ///< the first of it, and what is not known yet
    int64_t call_bytes_ = 0;  ///< the least report of the phase: no call is known to be larger
};

}  // namespace halcyon::coordinate
