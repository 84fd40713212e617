#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "policy/problem.hpp"

namespace halcyon::policy {

/// As brute_force, but leaves out what cannot be better than the best so far, so that it comes to an end for eight.
/// The bound is a simple one, and nothing of exact_search: all together never go faster than the fastest set, so the
/// k-th end comes when that could have moved the k least of what is left, at the earliest.
class bounded_enumeration {
  public:
    explicit bounded_enumeration(const problem& of) : of_(of), speed_(size_t{1} << of.count) {
        for (members set = 1; set <= of.all(); ++set) {
            speeds_of(of, set, speed_[set]);
            double sum = 0;
            for (uint32_t i = 0; i < of.count; ++i) {
                sum += speed_[set][i];
                fastest_of_[i] = std::max(fastest_of_[i], speed_[set][i]);
            }
            fastest_ = std::max(fastest_, sum);
        }
    }

    /// Infinite: no schedule costs less than `below`. `first`: of those in which these move first, and nobody else.
    double least_cost(double below, members first = 0) {
        bound_ = below;
        best_ = std::numeric_limits<double>::infinity();
        first_ = first;
        looked_at_ = 0;
        double before_s = 0;
        for (uint32_t i = 0; i < of_.count; ++i) before_s -= of_.cost_per_s[i] * of_.arrives_s[i];
        go_on(0, before_s, of_.left_s, of_.all(), true);
        return best_;
    }
    /// Gives up after so many positions.
    void look_at_most(uint64_t positions) { most_ = positions; }
    [[nodiscard]] bool complete() const { return looked_at_ <= most_; }

  private:
    /// Of all that is still to come, with what those cost that have not arrived.
    [[nodiscard]] double bound(double at_s, const problem::values& left_s, members unfinished) const {
        std::array<double, problem::most> left{}, cost{};
        uint32_t count = 0;
        double alone = 0, all_left_s = 0;
        for (uint32_t i = 0; i < of_.count; ++i) {
            if ((unfinished >> i & 1) == 0) continue;
            left[count] = left_s[i];
            cost[count++] = of_.cost_per_s[i];
            const double from_s = std::max(0.0, of_.arrives_s[i] - at_s);
            alone += of_.cost_per_s[i] * (from_s + left_s[i] / fastest_of_[i]);
            all_left_s += left_s[i];
        }
        std::sort(left.begin(), left.begin() + count);
        std::sort(cost.begin(), cost.begin() + count, std::greater<>());
        double end_s = 0, together = 0;
        for (uint32_t k = 0; k < count; ++k) {
            end_s += left[k] / fastest_;
            together += cost[k] * end_s;
        }
        return std::max(alone, together) + of_.cost_after_per_s * all_left_s / fastest_;
    }

    void go_on(double at_s, double cost, const problem::values& left_s, members unfinished, bool unstopped) {
        if (++looked_at_ > most_) return;
        if (unfinished == 0) {
            if (cost < bound_) best_ = bound_ = cost;
            return;
        }
        if (cost + bound(at_s, left_s, unfinished) >= bound_) return;
        members here = 0;
        double next_s = std::numeric_limits<double>::infinity();
        double cost_per_s = of_.cost_after_per_s;
        for (uint32_t i = 0; i < of_.count; ++i) {
            if ((unfinished >> i & 1) == 0) continue;
            cost_per_s += of_.cost_per_s[i];
            if (of_.arrives_s[i] <= at_s)
                here |= members{1} << i;
            else
                next_s = std::min(next_s, of_.arrives_s[i]);
        }
        if (here == 0) return go_on(next_s, cost + cost_per_s * (next_s - at_s), left_s, unfinished, unstopped);
        for (members set = 1; set <= here; ++set) {
            if ((set & ~here) != 0 || (at_s == 0 && first_ != 0 && set != first_)) continue;
            double took_s = next_s - at_s;
            for (uint32_t i = 0; i < of_.count; ++i)
                if ((set >> i & 1) != 0) took_s = std::min(took_s, left_s[i] / speed_[set][i]);
            problem::values rest_s = left_s;
            members rest = unfinished;
            for (uint32_t i = 0; i < of_.count; ++i) {
                if ((set >> i & 1) == 0) continue;
                rest_s[i] -= took_s * speed_[set][i];
                if (rest_s[i] <= 1e-12 * left_s[i]) rest &= ~(members{1} << i);
            }
            const double turns = unstopped && (of_.moving & ~set) != 0 ? of_.interruption_cost : 0;
            const bool arrives = at_s + took_s >= next_s * (1 - 1e-12);
            go_on(arrives ? next_s : at_s + took_s, cost + cost_per_s * took_s + turns, rest_s, rest,
                  unstopped && turns == 0 && rest == unfinished);
        }
    }

    const problem& of_;
    std::vector<problem::values> speed_;  ///< by set
    double fastest_ = 0;
    problem::values fastest_of_{};
    members first_ = 0;
    double bound_ = 0;
    double best_ = std::numeric_limits<double>::infinity();
    uint64_t most_ = UINT64_MAX;
    uint64_t looked_at_ = 0;
};

}  // namespace halcyon::policy
