#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "coordinate/coordinator/mean_speed.hpp"
#include "coordinate/estimates/begun_bytes.hpp"

namespace halcyon::coordinate {

/// Bytes per second that an agent's node moves while it has the turn, from its reports, and how long the calls may take
/// that are under way.
class link_speed {
  public:
    /// A report: in `seconds`, calls of so many bytes began. Returns the interval of which it is now known what moved.
    std::optional<begun_bytes::moved> observe(int64_t bytes, double seconds, bool under_way) {
        ahead_bytes_ = std::max(0.0, ahead_bytes_ - assumed() * seconds) + static_cast<double>(bytes);
        auto moved = begun_.add(bytes, seconds, under_way);
        if (!moved) return moved;
        moved->bytes =
            static_cast<int64_t>(std::min(static_cast<double>(moved->bytes), fastest_bytes_per_s * moved->seconds));
        if (mean() == 0) ahead_bytes_ = under_way ? static_cast<double>(bytes) : 0;
        for (mean_speed* const one : {&latest_, &long_}) one->add(static_cast<double>(moved->bytes), moved->seconds);
        return moved;
    }
    void phase_ended() {
        begun_.clear();
        ahead_bytes_ = 0;
    }
    /// 0: not known yet.
    [[nodiscard]] double bytes_per_s() const { return latest_.bytes_per_s(); }
    /// How much is known of it, up to 1: the latest bytes are those of a second or so.
    [[nodiscard]] double known() const { return std::min(1.0, latest_.seconds() / settled_s); }
    /// Until what was begun has moved at the mean speed of a longer time, in which the time of syncs counts, too: what
    /// was written into caches moves then. Where no speed is known yet, by the slowest link there is: calls of
    /// few bytes are no excuse for long.
    [[nodiscard]] double ahead_s() const { return ahead_bytes_ / assumed(); }
    /// Bytes of a lease that lasts `seconds`; `first` where the speed is not known.
    [[nodiscard]] int64_t lease(double seconds, int64_t first, int64_t least, int64_t most) const {
        const double wanted = bytes_per_s() > 0 ? bytes_per_s() * seconds : static_cast<double>(first);
        return std::llround(std::clamp(wanted, static_cast<double>(std::min(least, most)), static_cast<double>(most)));
    }

  private:
    [[nodiscard]] double mean() const { return long_.bytes_per_s(); }
    [[nodiscard]] double assumed() const { return mean() > 0 ? mean() : slowest_bytes_per_s; }

    static constexpr double settled_s = 1.2;
    static constexpr double slowest_bytes_per_s = 1e6;
    /// No node moves more, whatever it tells. One call may have more bytes than the lease, so leases tell no bound.
    static constexpr double fastest_bytes_per_s = 1e11;
    begun_bytes begun_;
    mean_speed latest_{1}, long_{60};
    double ahead_bytes_ = 0;  ///< that have begun, but cannot have moved yet at the mean speed
};

}  // namespace halcyon::coordinate
