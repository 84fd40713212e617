#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/estimates/begun_bytes.hpp"

namespace halcyon::coordinate {

/// Times long enough that their bytes tell a speed. Bytes count when a call begins, so a report is wrong by as many
/// calls as are under way, and the fastest of many short ones is a multiple of the speed. A window ends when nothing is
/// under way, or when so many calls have begun in it that those at its ends are few.
///
/// What is under way at one end only would make it wrong all the same: too fast where nothing was under way when it
/// began, too slow where nothing is any more when it ends. So the first interval behind a time without calls is left
/// out, unless the window goes on until nothing is under way again; and a window that has the end only of calls whose
/// bytes counted before it must have begun twice as many calls, or it tells nothing.
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
            if (began_with_ == 0 && first_.seconds == 0) first_ = *known;
        }
        under_way_ = under_way;
        return under_way > 0 ? end_amid_calls() : end_behind_calls();
    }
    /// What comes is to be told apart from what was.
    void change() {
        begin(0);
        begun_.clear();
    }
    /// The phase is over.
    void clear() {
        under_way_ = 0;
        change();
        call_bytes_ = 0;
    }

  private:
    /// The next one. `since_s`: ago that of which nothing is known yet has begun.
    void begin(double since_s) {
        now_ = first_ = {};
        since_s_ = since_s;
        began_with_ = under_way_;
    }
    moved end_amid_calls() {
        moved ends = now_;
        ends.bytes -= first_.bytes;
        ends.seconds -= first_.seconds;
        if (ends.seconds < least_s || ends.bytes < least_calls * under_way_ * call_bytes_) return {};
        ends.begun_ago_s = std::max(0.0, since_s_ - first_.seconds);
        begin(std::max(0.0, since_s_ - now_.seconds));
        return ends;
    }
    moved end_behind_calls() {
        const bool is_whole = began_with_ == 0;
        if (is_whole && now_.seconds < least_s) return {};
        const bool tells = now_.seconds >= least_s && now_.bytes >= 2 * least_calls * began_with_ * call_bytes_;
        moved ends = now_;
        ends.begun_ago_s = since_s_;
        begin(0);
        return tells ? ends : moved{};
    }

    begun_bytes begun_;
    moved now_;
    moved first_;             ///< of it: its first interval, if nothing was under way when it began
    double since_s_ = 0;      ///< the first of it, and what is not known yet
    int64_t began_with_ = 0;  ///< calls under way when it began
    int64_t under_way_ = 0;   ///< by the latest report
    int64_t call_bytes_ = 0;  ///< the least report of the phase: no call is known to be larger
};

}  // namespace halcyon::coordinate
