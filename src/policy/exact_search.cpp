#include "policy/exact_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halcyon::policy {

namespace {

/// Relative; what is smaller is rounding.
constexpr double tiny = 1e-12;
/// Of costs: less is no gain.
constexpr double least_gain = 1e-11;

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}

}  // namespace

plan exact_search::solve(const problem& of, const speed_table& speeds, const plan& known, uint64_t nodes) {
    of_ = &of;
    speeds_ = &speeds;
    limit_ = nodes;
    best_ = known;
    best_.nodes = 0;
    best_.complete = true;
    if (children_.size() < 2 * of.count + 1) children_.resize(2 * of.count + 1);
    tighten_rates();
    weigh_pairs();
    position start;
    start.unfinished = of.all();
    for (uint32_t i = 0; i < of.count; ++i) {
        start.left_s[i] = of.left_s[i];
        start.cost -= of.cost_per_s[i] * of.arrives_s[i];
        start.order[i] = static_cast<uint8_t>(i);
    }
    start.ordered = of.count;
    search(start, {}, 0);
    return best_;
}

/// Starts with the demands, as far as all sets can bear them, and raises one rate after the other.
void exact_search::tighten_rates() {
    const members all = of_->all();
    taken_.assign(size_t{all} + 1, 0);
    double most = 0;
    for (members set = 1; set <= all; ++set) {
        const double* const speed = speeds_->of(set);
        for (uint32_t i = 0; i < of_->count; ++i) taken_[set] += of_->demand[i] * speed[i];
        most = std::max(most, taken_[set]);
    }
    for (members set = 1; set <= all; ++set) taken_[set] /= most;
    for (uint32_t i = 0; i < of_->count; ++i) {
        const members bit = members{1} << i;
        double more = std::numeric_limits<double>::infinity();
        for (members set = bit; set <= all; set = (set + 1) | bit)
            more = std::min(more, (1 - taken_[set]) / std::max(speeds_->of(set)[i], 1e-300));
        more = std::max(more, 0.0);
        rate_[i] = of_->demand[i] / most + more;
        for (members set = bit; set <= all; set = (set + 1) | bit) taken_[set] += more * speeds_->of(set)[i];
    }
}

void exact_search::weigh_pairs() {
    const members all = of_->all();
    // [i][j]: the least that j moves while i moves one, in all sets with both.
    std::array<problem::values, problem::most> least;
    for (problem::values& row : least) row.fill(std::numeric_limits<double>::infinity());
    for (members set = 1; set <= all; ++set) {
        const double* const speed = speeds_->of(set);
        for (members rest = set; rest != 0; rest &= rest - 1) {
            const uint32_t i = first_of(rest);
            const double slow_down = 1 / speed[i];
            for (members others = set; others != 0; others &= others - 1) {
                const uint32_t j = first_of(others);
                least[i][j] = std::min(least[i][j], speed[j] * slow_down);
            }
        }
    }
    for (uint32_t i = 0; i < of_->count; ++i) {
        for (uint32_t j = 0; j < of_->count; ++j) {
            const double waiting = of_->cost_per_s[j] * rate_[i];
            const double together =
                of_->cost_per_s[i] * of_->excess[i][j] + of_->cost_per_s[j] * of_->excess[j][i] * least[i][j];
            beside_[i][j] = std::min(waiting, together);
        }
    }
}

double exact_search::bound_by_pairs(const position& at) const {
    double cost = at.cost;
    double longest_s = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        const double begin_s = std::max(of_->arrives_s[i] - at.at_s, 0.0);
        cost += of_->cost_per_s[i] * (begin_s + at.left_s[i]);
        longest_s = std::max(longest_s, begin_s + at.left_s[i]);
        for (members others = rest & (rest - 1); others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            const double later_s = std::max(of_->arrives_s[j] - at.at_s, 0.0) - begin_s;
            // Before the later one arrives, the earlier one costs it nothing.
            const double mine = later_s > 0 ? std::max(at.left_s[i] - later_s, 0.0) : at.left_s[i];
            const double its = later_s < 0 ? std::max(at.left_s[j] + later_s, 0.0) : at.left_s[j];
            cost += std::min(beside_[i][j] * mine, beside_[j][i] * its);
        }
    }
    return cost + of_->cost_after_per_s * longest_s;
}

/// Lets `set` move until the first of them ends, or somebody arrives.
exact_search::turn exact_search::go(const position& from, members here, members set, position& to) const {
    const double* const speed = speeds_->of(set);
    double took_s = std::numeric_limits<double>::infinity();
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        took_s = std::min(took_s, from.left_s[i] / speed[i]);
    }
    double arrival_s = 0;  // 0: none
    double cost_per_s = of_->cost_after_per_s;
    for (members rest = from.unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        cost_per_s += of_->cost_per_s[i];
        if (of_->arrives_s[i] > from.at_s && of_->arrives_s[i] < from.at_s + took_s * (1 - tiny)) {
            arrival_s = of_->arrives_s[i];
            took_s = arrival_s - from.at_s;
        }
    }
    to = from;
    // An arrival is met exactly, so that it is not missed by rounding.
    to.at_s = arrival_s > 0 ? arrival_s : from.at_s + took_s;
    to.cost = from.cost + took_s * cost_per_s;
    turn made{set, here, took_s, 0, from.unstopped};
    if (from.unstopped) {
        const double interruption = of_->cost_of_first(set);
        to.cost += interruption;
        to.unstopped = interruption == 0 && arrival_s > 0;
    }
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        to.left_s[i] = from.left_s[i] - took_s * speed[i];
        if (to.left_s[i] > from.left_s[i] * tiny) continue;
        to.unfinished &= ~(members{1} << i);
        made.ended_cost_per_s += of_->cost_per_s[i];
    }
    // An arrival within it: others could move only since then.
    if (arrival_s > 0) made.set = 0;
    return made;
}

void exact_search::order_by_smith(position& at) const {
    uint32_t count = 0;
    for (uint32_t k = 0; k < at.ordered; ++k) {
        const uint8_t i = at.order[k];
        if ((at.unfinished >> i & 1) == 0) continue;
        uint32_t place = count++;
        // cost_i / busy_i > cost_j / busy_j, without divisions.
        const double busy_s = rate_[i] * at.left_s[i];
        for (; place > 0; --place) {
            const uint8_t j = at.order[place - 1];
            if (of_->cost_per_s[i] * (rate_[j] * at.left_s[j]) <= of_->cost_per_s[j] * busy_s) break;
            at.order[place] = j;
        }
        at.order[place] = i;
    }
    at.ordered = count;
}

double exact_search::bound_with_arrivals(const position& at) const {
    const uint32_t count = at.ordered;
    problem::values left{};
    problem::values busy{};  // integral of time over its processing
    double alone = 0;
    double earliest = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint8_t i = at.order[k];
        left[i] = rate_[i] * at.left_s[i];
        const double begin_s = std::max(of_->arrives_s[i], at.at_s);
        earliest = std::max(earliest, begin_s + at.left_s[i]);
        alone += of_->cost_per_s[i] * (begin_s + at.left_s[i]);
    }
    double now_s = at.at_s;
    for (members open = at.unfinished; open != 0;) {
        int32_t chosen = -1;
        double next_s = std::numeric_limits<double>::infinity();
        for (uint32_t k = 0; k < count; ++k) {
            const uint8_t i = at.order[k];
            if ((open >> i & 1) == 0) continue;
            if (of_->arrives_s[i] > now_s)
                next_s = std::min(next_s, of_->arrives_s[i]);
            else if (chosen < 0)
                chosen = i;
        }
        if (chosen < 0) {
            now_s = next_s;
            continue;
        }
        const double until_s = std::min(next_s, now_s + left[chosen]);
        busy[chosen] += (until_s - now_s) * (until_s + now_s) / 2;
        if (now_s + left[chosen] <= next_s) {
            left[chosen] = 0;
            open &= ~(members{1} << chosen);
        } else {
            left[chosen] -= until_s - now_s;
        }
        now_s = until_s;
    }
    double machine = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint8_t i = at.order[k];
        machine += of_->cost_per_s[i] * (busy[i] / (rate_[i] * at.left_s[i]) + at.left_s[i] / 2);
    }
    const double after = of_->cost_after_per_s * (std::max(now_s, earliest) - at.at_s);
    double until_now = 0;
    for (uint32_t k = 0; k < count; ++k) until_now += of_->cost_per_s[at.order[k]] * at.at_s;
    return at.cost + std::max(machine, alone) - until_now + after;
}

double exact_search::bound_by_machine(position& at) const {
    order_by_smith(at);
    const uint32_t count = at.ordered;
    double before_s = 0;
    double machine = 0;
    double alone = 0;
    double longest_s = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint8_t i = at.order[k];
        if (of_->arrives_s[i] > at.at_s) return bound_with_arrivals(at);
        const double busy_s = rate_[i] * at.left_s[i];
        machine += of_->cost_per_s[i] * (before_s + (busy_s + at.left_s[i]) / 2);
        alone += of_->cost_per_s[i] * at.left_s[i];
        before_s += busy_s;
        longest_s = std::max(longest_s, at.left_s[i]);
    }
    return at.cost + std::max(machine, alone) + of_->cost_after_per_s * std::max(before_s, longest_s);
}

/// Two turns without an arrival between them, of which the second's ends were not of the first: the other way round is
/// possible, too, and leads to the same position. If it costs less, the two are no part of the best schedule.
bool exact_search::better_the_other_way(const turn& before, const turn& made, members ended) const {
    if (before.set == 0 || made.set == 0 || (ended & before.set) != 0 || (made.set & ~before.here) != 0) return false;
    const double dearer = before.unstopped ? of_->cost_of_first(made.set) - of_->cost_of_first(before.set) : 0;
    return before.ended_cost_per_s * made.took_s + dearer < made.ended_cost_per_s * before.took_s * (1 - 1e-9);
}

double exact_search::to_beat() const {
    return std::isfinite(best_.cost) ? best_.cost - least_gain * std::abs(best_.cost) : best_.cost;
}

void exact_search::found(members first, double cost) {
    if (cost >= to_beat()) return;
    best_.cost = cost;
    best_.first = first;
}

void exact_search::search(const position& at, const turn& before, uint32_t depth) {
    if (++best_.nodes > limit_) {
        best_.complete = false;
        return;
    }
    members here = 0;
    double next_s = std::numeric_limits<double>::infinity();
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        if (of_->arrives_s[i] <= at.at_s)
            here |= members{1} << i;
        else
            next_s = std::min(next_s, of_->arrives_s[i]);
    }
    if (here == 0) {
        if (at.unfinished == 0) {
            found(first_, at.cost);
            return;
        }
        // Nobody is there until the next one arrives.
        position later = at;
        for (members rest = at.unfinished; rest != 0; rest &= rest - 1)
            later.cost += of_->cost_per_s[first_of(rest)] * (next_s - at.at_s);
        later.cost += of_->cost_after_per_s * (next_s - at.at_s);
        later.at_s = next_s;
        search(later, {}, depth + 1);
        return;
    }
    std::vector<child>& children = children_[depth];
    children.clear();
    position next;
    // All subsets of `here`, the full one first.
    for (members set = here; set != 0; set = (set - 1) & here) {
        const turn made = go(at, here, set, next);
        if (better_the_other_way(before, made, at.unfinished & ~next.unfinished)) continue;
        double least = bound_by_pairs(next);
        if (least < to_beat()) least = std::max(least, bound_by_machine(next));
        if (least < to_beat()) children.push_back({least, set});
    }
    std::ranges::sort(children, [](const child& a, const child& b) {
        return a.bound < b.bound || (a.bound == b.bound && a.set < b.set);
    });
    for (const child& one : children) {
        if (one.bound >= to_beat()) break;
        if (depth == 0) first_ = one.set;
        const turn made = go(at, here, one.set, next);
        order_by_smith(next);
        search(next, made, depth + 1);
        if (!best_.complete) return;
    }
}

}  // namespace halcyon::policy
