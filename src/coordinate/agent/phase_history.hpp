#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace halcyon::coordinate {

/// What the last I/O phases of a node were like, for those without a forecast.
class phase_history {
  public:
    void began(double now_s) {
        if (began_s_ >= 0) starts_.add(now_s - began_s_);
        began_s_ = now_s;
    }
    void ended(int64_t bytes) {
        if (bytes > 0) bytes_.add(static_cast<double>(bytes));
    }
    /// `bytes` moved in `duration_s`. The fastest of many times is taken for the speed alone: whatever else happens
    /// makes I/O slower. It fades, so that one lucky time does not stand for ever.
    void moved(int64_t bytes, double duration_s) {
        constexpr double least_s = 0.02, kept = 0.995;
        if (bytes <= 0 || duration_s < least_s) return;
        fastest_ = std::max(fastest_ * kept, static_cast<double>(bytes) / duration_s);
    }

    // 0: not known.
    [[nodiscard]] double between_starts_s() const { return starts_.mean(); }
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_.mean()); }
    [[nodiscard]] double bytes_per_s_alone() const { return fastest_; }

  private:
    /// Of the last ones.
    class recent {
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

    recent starts_, bytes_;
    double began_s_ = -1;
    double fastest_ = 0;
};

}  // namespace halcyon::coordinate
