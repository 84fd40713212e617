#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace halcyon::tests {

/// A burst of four writes, 1 ms each and 1 ms apart, and the pause before it.
struct patterned_phase {
    int64_t pause_ns;
    double range_ns;      ///< from the 5 % to the 95 % quantile of the pause, for who knows the pattern and its state
    uint32_t site;        ///< where in the program
    bool nested = false;  ///< the burst belongs to the phase of the one before
};

/// Ten ways in which programs pause between their phases of I/O. A timer is late or early by up to 0.1 ms, whatever the
/// pattern; that is all that cannot be known of those without a random part of their own.
class phase_pattern {
  public:
    static constexpr int64_t ms = 1'000'000;
    static constexpr int64_t calls = 4;
    static constexpr int64_t call_ns = ms;
    static constexpr int64_t least_pause_ns = 10 * ms;
    static constexpr int64_t burst_ns = calls * call_ns + (calls - 1) * ms;

    [[nodiscard]] static std::vector<std::string> names() {
        return {"constant", "three_short_one_long", "jitter_5", "jitter_20", "drift", "two_periods", "nested",
                "change",   "exponential",          "outliers"};
    }

    static std::vector<patterned_phase> made(const std::string& name, size_t phases, uint64_t seed) {
        phase_pattern one(seed);
        std::vector<patterned_phase> all;
        for (size_t i = 0, made = 0; made < phases; ++i) {
            all.push_back(one.next(name, i, phases));
            if (!all.back().nested) ++made;
        }
        return all;
    }

  private:
    explicit phase_pattern(uint64_t seed) : random_(seed) {}

    patterned_phase next(const std::string& name, size_t i, size_t phases) {
        const auto at = static_cast<double>(i);
        if (name == "constant") return timed(1.0);
        if (name == "three_short_one_long") return timed(i % 4 == 3 ? 1.2 : 0.3);
        if (name == "jitter_5") return varied(1.0, 0.05);
        if (name == "jitter_20") return varied(1.0, 0.2);
        if (name == "drift") return varied(1.0 + at / static_cast<double>(phases), 0.02);
        if (name == "nested") {
            patterned_phase one = timed(i % 5 == 0 ? 2.0 : 0.05);
            one.nested = i % 5 != 0;
            return one;
        }
        if (name == "change") return varied(i < phases / 2 ? 1.0 : 0.4, 0.02);
        if (name == "exponential") {
            const double seconds = std::exponential_distribution<>(1.0)(random_);
            return {after(0.02 + seconds), (std::log(0.95) - std::log(0.05)) * 1e9, 1};
        }
        if (name == "outliers") {
            // The 5 % quantile of both is the 5.3 % quantile of the usual ones, the 95 % quantile their greatest.
            const patterned_phase usual = varied(1.0, 0.02);
            const bool outlier = std::uniform_real_distribution<>(0, 1)(random_) < 0.05;
            return {outlier ? after(3.0) : usual.pause_ns, (1.62 + farthest) * 0.02 * 1e9, 1};
        }
        return of_two_timers();
    }

    /// One fires each 0.7 s, the other each 1.1 s. One that is due while the other writes is served right after it.
    patterned_phase of_two_timers() {
        constexpr std::array<double, 2> periods{0.7, 1.1};
        const size_t first = due_[0] <= due_[1] ? 0 : 1;
        const int64_t start = std::max(after(due_[first]), now_);
        due_[first] += periods[first];
        const int64_t pause = start - now_;
        now_ = start + burst_ns;
        return {pause, timer_range_ns, static_cast<uint32_t>(first + 1), pause < least_pause_ns};
    }

    patterned_phase timed(double seconds) { return {after(seconds), timer_range_ns, 1}; }
    /// Normal, cut at three deviations.
    patterned_phase varied(double seconds, double share) {
        double deviations = 0;
        do deviations = std::normal_distribution<>()(random_);
        while (std::abs(deviations) > farthest);
        return {after(seconds * (1 + share * deviations)), std::max(2 * 1.645 * share * seconds * 1e9, timer_range_ns),
                1};
    }
    int64_t after(double seconds) {
        return std::llround(seconds * 1e9 + std::uniform_real_distribution<>(-0.1, 0.1)(random_) * ms);
    }

    static constexpr double timer_range_ns = 0.9 * 0.2 * ms;
    static constexpr double farthest = 3;

    std::mt19937_64 random_;
    std::array<double, 2> due_{0.7, 1.1};
    int64_t now_ = 0;
};

}  // namespace halcyon::tests
