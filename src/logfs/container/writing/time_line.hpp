#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halcyon::logfs {

/// A line through the times of writes, so that a pattern keeps two of them instead of one for each write. The line lies
/// above no write's time and below it by at most a tolerance; a write to which no such line leads ends the pattern. The
/// range of slopes that fit all writes so far is narrowed by each (the swing filter of Elmeleegy et al., Online
/// piece-wise linear approximation of numerical streams with precision guarantees, VLDB 2009, with a band on one side).
class time_line {
  public:
    /// Times of writes that are fast are kept to 0.1 ms; of slow ones to 16 times as long as the first of them took, and
    /// never worse than 20 ms. Writes to the same bytes that lie that close and are not synced are unordered anyway.
    static constexpr int64_t least_tolerance_ns = 100'000;
    static constexpr int64_t most_tolerance_ns = 20'000'000;

    static int64_t tolerance_for(int64_t gap_ns) {
        return gap_ns > most_tolerance_ns ? most_tolerance_ns
                                          : std::clamp(gap_ns * 16, least_tolerance_ns, most_tolerance_ns);
    }

    void begin(int64_t origin_ns, int64_t tolerance_ns) {
        origin_ns_ = origin_ns;
        tolerance_ns_ = tolerance_ns;
        lowest_ = 0;
        highest_ = 1e18;
    }

    /// Passes below `time_ns` at `above`, and not further below than the tolerance at `at` (0: anywhere). False, and then
    /// nothing has changed: no line does.
    bool pass(double at, double above, int64_t time_ns) {
        const auto time = static_cast<double>(time_ns - origin_ns_);
        const double low =
            at > 0 ? std::max(lowest_, (time - static_cast<double>(tolerance_ns_)) / at) : lowest_;
        const double high = std::min(highest_, time / above);
        if (low > high) return false;
        lowest_ = low;
        highest_ = high;
        return true;
    }

    /// Where the line is at `position`; not after `limit_ns`.
    [[nodiscard]] int64_t at(double position, int64_t limit_ns) const {
        return std::min(limit_ns, origin_ns_ + static_cast<int64_t>(highest_ * position));
    }
    [[nodiscard]] int64_t tolerance_ns() const { return tolerance_ns_; }
    /// The tolerance is at most 2^exponent ns.
    [[nodiscard]] uint32_t exponent() const {
        return static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(tolerance_ns_ - 1)));
    }

  private:
    int64_t origin_ns_ = 0;
    int64_t tolerance_ns_ = least_tolerance_ns;
    double lowest_ = 0;
    double highest_ = 0;
};

}  // namespace halcyon::logfs
