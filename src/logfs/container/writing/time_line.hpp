#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halcyon::logfs {

/// A line through the times of writes, so that a pattern keeps two of them instead of one for each write. The line is
/// off by at most a tolerance, and ends not behind the last write; a write to which no such line leads ends the
/// pattern. The range of slopes that fit all writes so far is narrowed by each (the swing filter of Elmeleegy et al.,
/// Online piece-wise linear approximation of numerical streams with precision guarantees, VLDB 2009).
class time_line {
  public:
    /// Times of writes that are fast are kept to 0.1 ms; of slow ones to 16 times as long as the first of them took,
    /// and never worse than 20 ms. Writes to the same bytes that lie that close and are not synced are unordered
    /// anyway.
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

    /// Of the writes so far this one is the last, from `begin` to `end`. False, and then nothing has changed: no line
    /// leads there.
    bool lead_to(double begin, double end, int64_t time_ns) {
        const auto time = static_cast<double>(time_ns - origin_ns_);
        const auto tolerance = static_cast<double>(tolerance_ns_);
        const double low = begin > 0 ? std::max(lowest_, (time - tolerance) / begin) : lowest_;
        const double high = std::min(highest_, (time + tolerance) / end);
        if (low > high || low * end > time) return false;
        lowest_ = low;
        highest_ = high;
        return true;
    }

    /// Where it ends, with the last write at this time.
    [[nodiscard]] int64_t end_at(double position, int64_t time_ns) const {
        return std::min(time_ns, origin_ns_ + static_cast<int64_t>(highest_ * position));
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
