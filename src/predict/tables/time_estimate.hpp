#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace halcyon::predict {

/// Statistics of a time, and the best guess at its next value (Dorier 2014, section 7.2.2, 'Tracking Interarrival
/// Times'): the weighted mean of equation 7.1, the mean, the median of the last five values, or the last one,
/// whichever was off by less until now. Nanoseconds.
class time_estimate {
  public:
    void learn(int64_t value);
    /// 0 before the first value.
    [[nodiscard]] int64_t next() const;
    [[nodiscard]] uint64_t count() const { return count_; }
    [[nodiscard]] int64_t least() const { return least_; }
    [[nodiscard]] int64_t most() const { return most_; }
    [[nodiscard]] double mean() const { return mean_; }
    [[nodiscard]] double weighted() const { return weighted_; }
    [[nodiscard]] double variance() const;
    [[nodiscard]] int64_t deviation() const;
    /// Mean absolute error of what next() said, of the last 32 values for the most part.
    [[nodiscard]] double error() const { return error_; }

    /// For archives.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        archive.number(self.count_);
        archive.number(self.least_);
        archive.number(self.most_);
        archive.number(self.mean_);
        archive.number(self.squares_);
        archive.number(self.weighted_);
        archive.number(self.error_);
        for (auto& error : self.errors_) archive.number(error);
        for (auto& value : self.last_) archive.number(value);
        if constexpr (Archive::reads) {
            constexpr auto farthest = static_cast<double>(Archive::farthest);
            if (std::abs(self.mean_) > farthest || std::abs(self.weighted_) > farthest)
                archive.fail("a mean beyond all times");
            if (self.squares_ < 0) archive.fail("squares that are negative");
            if (self.count_ > Archive::most_calls) archive.fail("more times than calls can be made");
        }
    }

  private:
    enum method : uint8_t { weighted_mean, plain_mean, median, last_value, methods };
    static constexpr uint32_t window = 5;

    [[nodiscard]] double said_by(method which) const;
    [[nodiscard]] method best() const;
    [[nodiscard]] int64_t median_of_last() const;

    uint64_t count_ = 0;
    int64_t least_ = 0;
    int64_t most_ = 0;
    double mean_ = 0;
    double squares_ = 0;  // sum of squared differences from the mean
    double weighted_ = 0;
    double error_ = 0;
    std::array<float, methods> errors_ = {};
    std::array<int64_t, window> last_ = {};
    uint32_t place_ = 0;  // where in last_ the next one goes
};

}  // namespace halcyon::predict
