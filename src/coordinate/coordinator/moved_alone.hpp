#pragma once

#include <cmath>
#include <cstdint>

namespace halcyon::coordinate {

/// Of applications that had the storage for themselves, in the last seconds of that: their speed, and how large they
/// were, since a larger one may be faster. Means over the time; 0: nobody moved alone yet.
class moved_alone {
  public:
    void add(double bytes_per_s, int64_t processes, int64_t nodes, double seconds) {
        const double kept = std::exp2(-seconds / half_life_s);
        seconds_ = seconds_ * kept + seconds;
        const double part = seconds_ > 0 ? seconds / seconds_ : 0;
        bytes_per_s_ += (bytes_per_s - bytes_per_s_) * part;
        processes_ += (static_cast<double>(processes) - processes_) * part;
        nodes_ += (static_cast<double>(nodes) - nodes_) * part;
    }
    [[nodiscard]] double bytes_per_s() const { return bytes_per_s_; }
    [[nodiscard]] double processes() const { return processes_; }
    [[nodiscard]] double nodes() const { return nodes_; }

  private:
    static constexpr double half_life_s = 10;
    double seconds_ = 0, bytes_per_s_ = 0, processes_ = 0, nodes_ = 0;
};

}  // namespace halcyon::coordinate
