#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace halcyon::bench {

/// Measured values of one kind, and what is said of them.
class samples {
  public:
    void add(double value) { values_.push_back(value); }
    [[nodiscard]] size_t count() const { return values_.size(); }
    [[nodiscard]] double median() const { return quantile(0.5); }
    /// The smallest value that at least `share` of all do not exceed; there must be one.
    [[nodiscard]] double quantile(double share) const {
        std::vector<double> sorted = values_;
        const auto index = std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())));
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index), sorted.end());
        return sorted[index];
    }

  private:
    std::vector<double> values_;
};

/// Prints a figure that is counted, not measured: every round would give the same.
inline void count(const std::string& name, double value, const char* unit) {
    std::printf(HALCYON_BENCH_ROOM ".%s %.6g %s\n", name.c_str(), value, unit);
    std::fflush(stdout);
}

/// Says that a figure cannot be measured here.
inline void unmet(const char* name, const char* reason) {
    std::printf("unmet " HALCYON_BENCH_ROOM ".%s %s\n", name, reason);
}

/// Rounds of one comparison, until as many as wanted count. It gives up where none of the first ones does that a figure
/// needs, and after twice as many as wanted. What it prints becomes figures by bench/rule.py.
///
/// In every round the machine has to leave this thread its core: else the figures are of other programs.
class rounds {
  public:
    /// At least as many as a figure needs, which whoever starts benchmarks says.
    explicit rounds(int wanted = 0) : needed_(needed_for_a_figure()), wanted_(std::max(wanted, needed_)) {}

    /// Ends the round before, and begins another one; false: there shall be none.
    bool next() {
        if (goes_on_) end_round();
        goes_on_ = counted_ < wanted_ && made_ < 2 * wanted_ && !(made_ >= needed_ && counted_ == 0);
        holds_ = true;
        begin_ = now();
        return goes_on_;
    }

    void value(const std::string& name, double value, const char* unit) {
        require("every value is a number", std::isfinite(value), name);
        if (std::isfinite(value)) std::printf("value " HALCYON_BENCH_ROOM ".%s %.9g %s\n", name.c_str(), value, unit);
    }

    /// A premise of the current round.
    void require(const char* premise, bool holds, const std::string& detail) {
        if (holds) return;
        holds_ = false;
        std::printf("failed %s: %s\n", premise, detail.c_str());
    }

    /// The reference over itself: a figure of its own, and a premise of the round.
    void control(const std::string& name, double ratio, double within = 1.25) {
        value(name, ratio, "ratio");
        require_control(name, ratio, within);
    }
    /// As a premise alone, where the figure is a difference.
    void require_control(const std::string& name, double ratio, double within = 1.25) {
        char text[64];
        std::snprintf(text, sizeof text, " %.3g, within a factor of %.3g", ratio, within);
        require("the control is near 1", ratio >= 1 / within && ratio <= within, name + text);
    }

  private:
    /// Of this thread, in nanoseconds: on the clock, and waiting for a core that others had.
    struct moment {
        double wall;
        double waited;
    };
    static constexpr double waited_at_most = 0.1;

    static int needed_for_a_figure() {
        const char* told = std::getenv("HALCYON_BENCH_ROUNDS");
        if (told != nullptr) return std::atoi(told);
        std::fprintf(stderr, "error: benchmarks are started by scripts/bench ROOM NAME\n");
        std::exit(2);
    }

    static moment now() {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        moment found{static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec), 0};
        if (std::FILE* file = std::fopen("/proc/thread-self/schedstat", "r"); file != nullptr) {
            double ran = 0;
            if (std::fscanf(file, "%lf %lf", &ran, &found.waited) != 2) found.waited = 0;
            std::fclose(file);
        }
        return found;
    }

    void end_round() {
        const moment end = now();
        const double share = (end.waited - begin_.waited) / std::max(end.wall - begin_.wall, 1.0);
        char text[64];
        std::snprintf(text, sizeof text, "this thread waited %.0f %% of the round for it", 100 * share);
        require("the core is free", share <= waited_at_most, text);
        std::printf("round\n");
        std::fflush(stdout);
        ++made_;
        counted_ += holds_ ? 1 : 0;
    }

    int needed_, wanted_;
    int made_ = 0, counted_ = 0;
    bool goes_on_ = false, holds_ = true;
    moment begin_{};
};

/// A quantity and two takes of its reference, measured in turn: a group of such takes is a round.
class interleaved {
  public:
    void add(double measured, double reference, double reference_again) {
        measured_.add(measured);
        reference_.add(reference);
        again_.add(reference_again);
    }
    /// `share`: which quantile of the group stands for it, e.g. 0.5 or 0.99.
    [[nodiscard]] double measured(double share = 0.5) const { return measured_.quantile(share); }
    [[nodiscard]] double reference(double share = 0.5) const { return reference_.quantile(share); }
    [[nodiscard]] double control(double share = 0.5) const { return again_.quantile(share) / reference(share); }

    void ratio(rounds& r, const std::string& name, double share = 0.5) const {
        r.value(name, measured(share) / reference(share), "ratio");
        r.control(name + "_control", control(share));
    }
    /// What the quantity takes more than its reference, times `scale`.
    void difference(rounds& r, const std::string& name, double scale, const char* unit) const {
        r.value(name, (measured() - reference()) * scale, unit);
        r.value(name + "_control", (again_.median() - reference()) * scale, unit);
        r.require_control(name, control());
    }

  private:
    samples measured_, reference_, again_;
};

}  // namespace halcyon::bench
