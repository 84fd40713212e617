#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace halcyon::calls {

/// What ticks are in nanoseconds, in a process that goes on: measured again and again over ever longer times, each time
/// from where the last measure has come to, so that times never jump. Zero: the start, more or less.
///
/// Any thread. One that finds a measure outdated makes the next one; others use the old one meanwhile.
class tick_times {
  public:
    void start();
    [[nodiscard]] int64_t ns(int64_t ticks) {
        const measure& held = measures_[current_.load(std::memory_order_acquire)];
        return ticks > held.until ? ns_after_measuring(ticks) : held.at(ticks);
    }
    [[nodiscard]] int64_t now();

  private:
    struct measure {
        int64_t ticks = 0;
        int64_t ns = 0;
        double ns_per_tick = 1;
        int64_t until = INT64_MAX;

        [[nodiscard]] int64_t at(int64_t when) const {
            return ns + static_cast<int64_t>(static_cast<double>(when - ticks) * ns_per_tick);
        }
    };
    static constexpr uint32_t most = 7;  // the last one after 100 s

    [[nodiscard]] int64_t ns_after_measuring(int64_t ticks);

    std::array<measure, most> measures_{};
    std::atomic<uint32_t> current_{0};
    std::atomic<bool> measuring_{false};
    int64_t first_ticks_ = 0;
    int64_t first_ns_ = 0;
};

}  // namespace halcyon::calls
