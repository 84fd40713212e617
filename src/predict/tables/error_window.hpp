#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace halcyon::predict {

/// From one time to another.
struct time_range {
    int64_t low = 0;
    int64_t high = 0;
    [[nodiscard]] bool holds(int64_t value) const { return low <= value && value <= high; }
};

/// How far the last forecasts of a time were off, and the range in which nine of ten of the next errors will be.
///
/// The range is the shortest one that holds a share of the last errors (Xu and Xie 2021, 'Conformal prediction interval
/// for dynamic time-series': a sliding window, and of all intervals of one level the narrowest), of forecasts of the
/// same order first: a program that pauses for 0.3 s and for 1.2 s is not equally precise in both. The share begins at
/// 0.9 and, once there are enough errors, moves with each forecast that was right or wrong, so that nine of ten become
/// right even when the errors drift (Gibbs and Candes 2021, 'Adaptive conformal inference under distribution shift').
/// Nanoseconds.
class error_window {
  public:
    static constexpr double wanted_share = 0.9;

    /// `error`: what came, less what was forecast.
    void learn(int64_t forecast, int64_t error);
    /// `elapsed`: so much of the time has passed, so that only what is later is possible. Nothing: no error is known
    /// that leads there.
    [[nodiscard]] std::optional<time_range> likely(int64_t forecast, int64_t elapsed = 0) const;
    /// Root mean square of the latest errors, of whichever forecasts.
    [[nodiscard]] int64_t deviation() const;

    /// For archives.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        archive.number(self.count_);
        archive.number(self.place_);
        archive.number(self.share_);
        if constexpr (Archive::reads) {
            if (self.count_ > most || self.place_ >= most) archive.fail("more errors than are kept");
            if (!(self.share_ >= least_share && self.share_ <= 1)) archive.fail("a share of errors that is none");
            if (!archive.good()) self.count_ = 0;
        }
        for (uint32_t i = 0; i < self.count_; ++i) {
            archive.number(self.orders_[i]);
            archive.number(self.errors_[i]);
        }
    }

  private:
    static constexpr uint32_t most = 192;
    static constexpr uint32_t latest = 16;  // of which deviation() tells
    static constexpr uint32_t enough = 64;  // of one order, to say anything without others; of all, to move the share
    static constexpr double least_share = 0.5;

    [[nodiscard]] uint32_t widest_needed(uint8_t order) const;

    std::array<int64_t, most> errors_ = {};
    std::array<uint8_t, most> orders_ = {};  // of the forecasts: their number of bits
    uint32_t count_ = 0;
    uint32_t place_ = 0;  // where the next one goes
    double share_ = wanted_share;
};

}  // namespace halcyon::predict
