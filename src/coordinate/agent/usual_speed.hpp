#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace halcyon::coordinate {

/// The mean speed of a node's windows (speed_window), those left out in which something was in its way: whatever else
/// happens makes I/O slower, and for longer than a window.
///
/// A window counts when some have come behind it, if those together are as fast as usual. While they are slower, they
/// only make the usual speed fade, so that a storage that has become slower is known after some hundred windows. So it
/// takes many to make the usual speed rise at once: that of a few, in which caches took the bytes or the other nodes of
/// the job did not write yet, would show writers that are not there for as long. Where most of the latest sixteen are
/// faster, the node was slowed down before. The fastest window would be no measure: others would always be slower, by
/// the noise alone.
class usual_speed {
  public:
    void add(double bytes_per_s, double seconds) {
        latest_[count_++ % latest_.size()] = bytes_per_s;
        const bool is_faster = count_ >= latest_.size() && median() > faster * usual_;
        if (count_ <= some || is_faster)
            usual_ = median();
        else if (mean() < slowed * usual_)
            usual_ *= std::max(std::exp2(-seconds / half_life_s), least_kept);
        else
            usual_ += (believed(ago(some)) - usual_) / std::min(static_cast<double>(count_), remembered);
    }
    [[nodiscard]] bool is_known() const { return count_ > 0; }
    /// 0: not known.
    [[nodiscard]] double bytes_per_s() const { return usual_; }

  private:
    static constexpr size_t some = 5;
    static constexpr double remembered = 64;
    static constexpr double slowed = 0.9, faster = 1.25;
    static constexpr double half_life_s = 120, least_kept = 0.999;  ///< of long windows there are few in two minutes

    /// Caches may have taken what moved in it.
    [[nodiscard]] double believed(double bytes_per_s) const { return std::min(bytes_per_s, faster * usual_); }
    [[nodiscard]] double ago(size_t windows) const { return latest_[(count_ - 1 - windows) % latest_.size()]; }
    [[nodiscard]] double mean() const {
        double sum = 0;
        for (size_t i = 0; i < some; ++i) sum += believed(ago(i));
        return sum / static_cast<double>(some);
    }
    [[nodiscard]] double median() const {
        auto sorted = latest_;
        const size_t kept = std::min(count_, sorted.size());
        std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(kept));
        return (sorted[(kept - 1) / 2] + sorted[kept / 2]) / 2;
    }

    std::array<double, 16> latest_{};
    size_t count_ = 0;
    double usual_ = 0;
};

}  // namespace halcyon::coordinate
