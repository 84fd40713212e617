#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace halcyon::coordinate {

/// The mean speed of a node's windows (speed_window), those left out in which something was in its way: whatever else
/// happens makes I/O slower, and for longer than a window.
///
/// A window counts when some have come behind it, if those together are as fast as usual. While they are slower, they
/// only make the usual speed fade, so that a storage that has become slower is known after some hundred windows. That
/// most of them are faster is believed at once: the node was slowed down before. The fastest window would be no
/// measure: others would always be slower, by the noise alone.
class usual_speed {
  public:
    void add(double bytes_per_s, double seconds) {
        const double before = std::exchange(latest_[count_ % latest_.size()], bytes_per_s);
        ++count_;
        if (count_ <= latest_.size() || median() > faster * usual_)
            usual_ = median();
        else if (mean() < slowed * usual_)
            usual_ *= std::max(std::exp2(-seconds / half_life_s), least_kept);
        else
            usual_ += (believed(before) - usual_) / std::min(static_cast<double>(count_), remembered);
    }
    [[nodiscard]] bool is_known() const { return count_ > 0; }
    /// 0: not known.
    [[nodiscard]] double bytes_per_s() const { return usual_; }

  private:
    static constexpr double remembered = 64;
    static constexpr double slowed = 0.9, faster = 1.25;
    static constexpr double half_life_s = 120, least_kept = 0.999;  ///< of long windows there are few in two minutes

    /// Caches may have taken what moved in it.
    [[nodiscard]] double believed(double bytes_per_s) const { return std::min(bytes_per_s, faster * usual_); }
    [[nodiscard]] double mean() const {
        double sum = 0;
        for (const double one : latest_) sum += believed(one);
        return sum / static_cast<double>(latest_.size());
    }
    [[nodiscard]] double median() const {
        auto sorted = latest_;
        const size_t kept = std::min(count_, sorted.size());
        std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(kept));
        return (sorted[(kept - 1) / 2] + sorted[kept / 2]) / 2;
    }

    std::array<double, 5> latest_{};
    size_t count_ = 0;
    double usual_ = 0;
};

}  // namespace halcyon::coordinate
