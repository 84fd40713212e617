#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "policy/problem.hpp"

namespace halcyon::policy {

/// The least cost of all schedules, and the first set of one that has it, by trying every set at every arrival and end.
/// Written without anything of the search that it checks but the speeds.
class brute_force {
  public:
    explicit brute_force(const problem& of) : of_(of) {}

    std::pair<double, members> best() { return from(0, of_.left_s, of_.all(), true); }
    /// Where `first` moves first.
    double best_after(members first) { return after(0, of_.left_s, of_.all(), first, true); }

  private:
    [[nodiscard]] double interruption(members set) const {
        for (uint32_t i = 0; i < of_.count; ++i)
            if ((of_.moving >> i & 1) != 0 && (set >> i & 1) == 0) return of_.interruption_cost;
        return 0;
    }

    /// `unstopped`: those that move now have gone on, and nobody has ended.
    std::pair<double, members> from(double at_s, const problem::values& left_s, members unfinished, bool unstopped) {
        if (unfinished == 0) return {0, 0};
        std::pair<double, members> found{std::numeric_limits<double>::infinity(), 0};
        members here = 0;
        for (uint32_t i = 0; i < of_.count; ++i) {
            if ((unfinished >> i & 1) != 0 && of_.arrives_s[i] <= at_s) here |= members{1} << i;
        }
        if (here == 0) return {after(at_s, left_s, unfinished, 0, unstopped), 0};
        for (members set = 1; set <= here; ++set) {
            if ((set & ~here) != 0) continue;
            found = std::min(found, {after(at_s, left_s, unfinished, set, unstopped), set});
        }
        return found;
    }

    double after(double at_s, const problem::values& left_s, members unfinished, members set, bool unstopped) {
        const double dearer = unstopped && set != 0 ? interruption(set) : 0;
        const members before = unfinished;
        problem::values speed{};
        speeds_of(of_, set, speed);
        double took_s = std::numeric_limits<double>::infinity();
        double cost_per_s = of_.cost_after_per_s;
        for (uint32_t i = 0; i < of_.count; ++i) {
            if ((unfinished >> i & 1) == 0) continue;
            if ((set >> i & 1) != 0) took_s = std::min(took_s, left_s[i] / speed[i]);
            if (of_.arrives_s[i] <= at_s) cost_per_s += of_.cost_per_s[i];
        }
        double end_s = at_s + took_s;
        for (uint32_t i = 0; i < of_.count; ++i) {
            const bool comes = (unfinished >> i & 1) != 0 && of_.arrives_s[i] > at_s;
            if (!comes || of_.arrives_s[i] >= at_s + took_s * (1 - 1e-12)) continue;
            end_s = of_.arrives_s[i];
            took_s = end_s - at_s;
        }
        problem::values rest_s = left_s;
        for (uint32_t i = 0; i < of_.count; ++i) {
            if ((set >> i & 1) == 0) continue;
            rest_s[i] -= took_s * speed[i];
            if (rest_s[i] <= 1e-12 * left_s[i]) unfinished &= ~(members{1} << i);
        }
        const bool still = unstopped && dearer == 0 && unfinished == before;
        return dearer + cost_per_s * took_s + from(end_s, rest_s, unfinished, still).first;
    }

    const problem& of_;
};

}  // namespace halcyon::policy
