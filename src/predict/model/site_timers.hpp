#pragma once

#include <array>
#include <cstdint>

#include "policy/forecast.hpp"
#include "predict/tables/time_estimate.hpp"

namespace halcyon::predict {

/// The call sites that phases begin with, each a clock of its own: a program that writes checkpoints each 1.1 s and
/// diagnostics each 0.7 s has phases in a sequence that never seems to repeat itself, but either is regular.
///
/// A clock runs in one of two ways, and the one that was off by less lately is believed: an interval begins where the
/// last one ended, or bursts are late or early against a beat that goes on by itself. There a burst tells of the beat a
/// quarter of what it is off (an alpha filter).
class site_timers {
  public:
    /// Each call. `is_first`: a phase begins with it, which makes its site one of those that are kept.
    void learn(uint32_t symbol, bool is_first, int64_t pause_ns, int64_t start_ns, int64_t end_ns);
    /// When the first of them is due, not before `now_ns`; not_known: none has come twice.
    [[nodiscard]] int64_t next_ns(int64_t now_ns) const;

  private:
    struct timer {
        uint32_t symbol = 0;
        int64_t started = 0;  // the last burst of this site
        int64_t beat = 0;     // when that was due
        int64_t ended = 0;
        time_estimate intervals;
        // Mean errors of either, of the last 16 for the most part.
        double interval_error = 0;
        double beat_error = 0;

        [[nodiscard]] int64_t due() const;
        void begin(int64_t start_ns);
    };
    static constexpr uint32_t most = 8;

    std::array<timer, most> timers_ = {};
    uint32_t count_ = 0;
};

}  // namespace halcyon::predict
