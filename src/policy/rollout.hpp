#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "policy/problem.hpp"

namespace halcyon::policy {

/// What comes of a rule that chooses who moves at every arrival and end: its first choice and its cost, as a plan.
/// `choose(here, left_s)` names a set of those present, not empty.
template <class Choose>
double roll_out(const problem& of, const speed_table& speeds, const Choose& choose);

/// Who moves so that the cost ends as fast as it can: the set of which sum of cost_i / left_i speed_i is the greatest
/// among those that grow from the best application by one after the other. Alone, that is Smith's rule.
members densest(const problem& of, const speed_table& speeds, members here, const problem::values& left_s);

/// Who of `here` moves under Smith's rule without overlap of those that share storage.
members by_smith(const problem& of, members here, const problem::values& left_s);

/// Those of `here` in order (of arrival, or the latest first), each beside those before it with which it shares
/// nothing.
members in_order(const problem& of, members here, bool latest_first);

template <class Choose>
double roll_out(const problem& of, const speed_table& speeds, const Choose& choose) {
    constexpr double tiny = 1e-12;
    problem::values left_s = of.left_s;
    members unfinished = of.all();
    double at_s = 0;
    double cost = 0;
    bool unstopped = true;  // as of exact_search's positions
    while (unfinished != 0) {
        members here = 0;
        double next_s = std::numeric_limits<double>::infinity();
        double cost_per_s = of.cost_after_per_s;
        for (members rest = unfinished; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            if (of.arrives_s[i] > at_s) {
                next_s = std::min(next_s, of.arrives_s[i]);
                continue;
            }
            here |= members{1} << i;
            cost_per_s += of.cost_per_s[i];
        }
        const members set = here == 0 ? 0 : choose(here, left_s);
        if (unstopped && here != 0) {
            const double interruption = of.cost_of_first(set);
            cost += interruption;
            unstopped = interruption == 0;
        }
        const double* const speed = speeds.of(set);
        double took_s = next_s - at_s;
        for (members rest = set; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            took_s = std::min(took_s, left_s[i] / speed[i]);
        }
        for (members rest = set; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            const double before_s = left_s[i];
            left_s[i] -= took_s * speed[i];
            if (left_s[i] > before_s * tiny) continue;
            unfinished &= ~(members{1} << i);
            unstopped = false;
        }
        cost += took_s * cost_per_s;
        // An arrival is met exactly, so that it is not missed by rounding.
        at_s = took_s >= next_s - at_s ? next_s : at_s + took_s;
    }
    return cost;
}

}  // namespace halcyon::policy
