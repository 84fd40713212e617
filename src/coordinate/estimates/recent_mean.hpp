#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace halcyon::coordinate {

/// Of the last eight values; 0: there was none.
class recent_mean {
  public:
    void add(double value) { values_[count_++ % values_.size()] = value; }
    [[nodiscard]] double mean() const {
        const size_t kept = std::min(count_, values_.size());
        double sum = 0;
        for (size_t i = 0; i < kept; ++i) sum += values_[i];
        return kept == 0 ? 0 : sum / static_cast<double>(kept);
    }

  private:
    std::array<double, 8> values_{};
    size_t count_ = 0;
};

}  // namespace halcyon::coordinate
