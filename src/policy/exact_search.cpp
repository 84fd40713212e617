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
constexpr double infinite = std::numeric_limits<double>::infinity();

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}

/// Nobody can tell i from j but by their number and what is left of them.
bool are_twins(const problem& of, uint32_t i, uint32_t j) {
    const members both = members{1} << i | members{1} << j;
    if (of.cost_per_s[i] != of.cost_per_s[j] || of.demand[i] != of.demand[j] || of.arrives_s[i] != of.arrives_s[j] ||
        of.excess[i][j] != of.excess[j][i] || (of.moving >> i & 1) != (of.moving >> j & 1) ||
        ((of.shares_with[i] ^ of.shares_with[j]) & ~both) != 0)
        return false;
    for (uint32_t k = 0; k < of.count; ++k) {
        if (k == i || k == j) continue;
        if (of.excess[i][k] != of.excess[j][k] || of.excess[k][i] != of.excess[k][j] ||
            of.borne[i][k] != of.borne[j][k])
            return false;
    }
    return true;
}

}  // namespace

plan exact_search::solve(const problem& of, const speed_table& speeds, const plan& known, uint64_t nodes) {
    of_ = &of;
    speeds_ = &speeds;
    limit_ = nodes;
    best_ = known;
    best_.nodes = 0;
    best_.complete = true;
    thorough_ = false;
    if (children_.size() < 2 * of.count + 1) children_.resize(2 * of.count + 1);
    bounds_.prepare(of, speeds);
    position start;
    start.unfinished = of.all();
    for (uint32_t i = 0; i < of.count; ++i) {
        start.left_s[i] = of.left_s[i];
        start.cost -= of.cost_per_s[i] * of.arrives_s[i];
        start.order[i] = static_cast<uint8_t>(i);
        alone_[i] = 1 / speeds.of(members{1} << i)[i];
        twins_[i] = 0;
        for (uint32_t j = 0; j < i; ++j) twins_[i] |= members{are_twins(of, i, j)} << j;
    }
    start.ordered = of.count;
    search(start, {}, 0);
    return best_;
}

/// What is prepared for it takes as long as many positions do.
void exact_search::be_thorough() {
    thorough_ = true;
    orders_.start(*of_, *speeds_, bounds_);
    if (ahead_.size() < 2 * of_->count + 1) ahead_.resize(2 * of_->count + 1);
    seen_.clear(*of_);
}

/// Whether no schedule through `at` is better than the best one so far. Of many unfinished ones there are too many
/// orders to look at all: then its prices are kept for what comes of it.
bool exact_search::is_hopeless(const position& at, members coming, uint32_t depth) {
    const auto left = static_cast<uint32_t>(std::popcount(at.unfinished));
    ahead& of = ahead_[depth];
    of.used = 0;
    if (!std::isfinite(best_.cost) || left <= 3) return false;
    if (left <= most_by_orders) {
        const auto most = static_cast<uint32_t>(std::min<uint64_t>((limit_ - best_.nodes) / positions_of_program, 40));
        const bool found = orders_.none_costs_less(at, to_beat(), most);
        best_.nodes += uint64_t{positions_of_program} * std::min(orders_.solved(), most);
        return found;
    }
    const uint64_t positions = (uint64_t{1} << 2 * left) / 256;
    for (const members late : {members{0}, coming}) {
        if ((of.used > 0 && coming == 0) || 2 * positions > limit_ - best_.nodes) break;
        end_prices& chosen = of.prices[of.used++];
        double its = -infinite;
        for (const double less : {0.0, 0.02}) {
            const double found =
                at.cost + trial_.prepare(*of_, *speeds_, at.unfinished, at.left_s, at.at_s, late, less);
            best_.nodes += positions;
            if (found <= its) continue;
            its = found;
            std::swap(trial_, chosen);
        }
        if (its >= to_beat()) return true;
    }
    return false;
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

members exact_search::late(const position& at) const {
    members found = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1)
        if (of_->arrives_s[first_of(rest)] > at.at_s) found |= rest & ~(rest - 1);
    return found;
}

/// The cost of the best schedule where two are left, or fewer.
double exact_search::cost_of_last(const position& at) const {
    if (at.unfinished == 0) return at.cost;
    const uint32_t i = first_of(at.unfinished);
    const members others = at.unfinished & (at.unfinished - 1);
    const double cost_i = of_->cost_per_s[i] + of_->cost_after_per_s;
    const double alone_i_s = alone_[i] * at.left_s[i];
    if (others == 0) return at.cost + cost_i * alone_i_s;
    const uint32_t j = first_of(others);
    const double cost_j = of_->cost_per_s[j] + of_->cost_after_per_s;
    const double cost_both = cost_i + of_->cost_per_s[j];
    const double alone_j_s = alone_[j] * at.left_s[j];
    const double* const speed = speeds_->of(at.unfinished);
    const double took_s = std::min(at.left_s[i] / speed[i], at.left_s[j] / speed[j]);
    const double together = cost_both * took_s + std::max(cost_i * alone_[i] * (at.left_s[i] - took_s * speed[i]),
                                                          cost_j * alone_[j] * (at.left_s[j] - took_s * speed[j]));
    return at.cost +
           std::min({together, cost_both * alone_i_s + cost_j * alone_j_s, cost_both * alone_j_s + cost_i * alone_i_s});
}

/// As far as it takes to see that the position is no part of a schedule that is better than the best one so far.
double exact_search::bound(position& at, ahead* from) {
    if (std::popcount(at.unfinished) <= 2 && late(at) == 0) return cost_of_last(at);
    double least = bounds_.by_pairs(at);
    if (least < to_beat()) least = std::max(least, bounds_.by_machine(at));
    if (from == nullptr) return least;
    if (least < to_beat() && !at.unstopped)
        least = std::max(least, at.cost + seen_.least_cost(at.unfinished, at.left_s, late(at) == 0 ? 0 : at.at_s));
    for (size_t k = 0; k < from->used && least < to_beat(); ++k)
        least = std::max(least, at.cost + from->prices[k].of(at.unfinished, at.left_s, at.at_s));
    return least;
}

/// Of twins with as much left, the first ones move: [i] those without which i does not. Whether there are any.
bool exact_search::pair_twins(const position& at, members here, std::array<members, problem::most>& before) const {
    members any = 0;
    for (members rest = here; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        before[i] = 0;
        for (members others = twins_[i] & here; others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            if (std::abs(at.left_s[i] - at.left_s[j]) <= tiny * at.left_s[i]) before[i] |= members{1} << j;
        }
        any |= before[i];
    }
    return any != 0;
}

void exact_search::find_children(const position& at, const turn& before, members here, uint32_t depth, double& least) {
    std::array<members, problem::most> first_twins;
    const bool has_twins = pair_twins(at, here, first_twins);
    const auto leaves_out_a_twin = [&](members set) {
        for (members rest = has_twins ? set : 0; rest != 0; rest &= rest - 1)
            if ((first_twins[first_of(rest)] & ~set) != 0) return true;
        return false;
    };
    std::vector<child>& children = children_[depth];
    children.clear();
    position next;
    // All subsets of `here`, the full one first.
    for (members set = here; set != 0; set = (set - 1) & here) {
        if (leaves_out_a_twin(set)) continue;
        const turn made = go(at, here, set, next);
        const bool is_worse = better_the_other_way(before, made, at.unfinished & ~next.unfinished);
        if (is_worse && !thorough_) continue;
        const double its = bound(next, thorough_ ? &ahead_[depth] : nullptr);
        if (is_worse || its >= to_beat())
            least = std::min(least, its);
        else
            children.push_back({its, set});
    }
    std::ranges::sort(children, [](const child& a, const child& b) {
        return a.bound < b.bound || (a.bound == b.bound && a.set < b.set);
    });
}

/// Returns the least that schedules through `at` cost, as far as it is known, or less.
double exact_search::search(const position& at, const turn& before, uint32_t depth) {
    if (++best_.nodes > limit_) {
        best_.complete = false;
        return -infinite;
    }
    if (!thorough_ && best_.nodes > quick_positions) be_thorough();
    const members coming = late(at);
    const members here = at.unfinished & ~coming;
    if (at.unfinished == 0) {
        found(first_, at.cost);
        return at.cost;
    }
    if (here == 0) {
        // Nobody is there until the next one arrives.
        double next_s = infinite;
        for (members rest = coming; rest != 0; rest &= rest - 1)
            next_s = std::min(next_s, of_->arrives_s[first_of(rest)]);
        position later = at;
        for (members rest = at.unfinished; rest != 0; rest &= rest - 1)
            later.cost += of_->cost_per_s[first_of(rest)] * (next_s - at.at_s);
        later.cost += of_->cost_after_per_s * (next_s - at.at_s);
        later.at_s = next_s;
        return search(later, {}, depth + 1);
    }
    best_.nodes += positions_of_sets(here);
    if (best_.nodes > limit_) {
        best_.complete = false;
        return -infinite;
    }
    // Of an alternative that was left out unseen, nothing is known.
    const bool thorough = thorough_;
    double least = thorough ? infinite : -infinite;
    if (thorough && is_hopeless(at, coming, depth)) {
        if (!at.unstopped) seen_.learn(at.unfinished, at.left_s, coming == 0 ? 0 : at.at_s, to_beat() - at.cost);
        return to_beat();
    }
    find_children(at, before, here, depth, least);
    position next;
    for (const child& one : children_[depth]) {
        if (one.bound >= to_beat()) {
            least = std::min(least, one.bound);
            break;
        }
        if (depth == 0) first_ = one.set;
        const turn made = go(at, here, one.set, next);
        double its = one.bound;
        if (std::popcount(next.unfinished) <= 2 && late(next) == 0 && !next.unstopped) {
            found(first_, its);
        } else {
            bounds_.order_by_smith(next);
            if (its < to_beat()) its = std::max(its, search(next, made, depth + 1));
            if (!best_.complete) return -infinite;
        }
        least = std::min(least, its);
    }
    // An interruption that still costs something is none of the position itself.
    if (thorough && !at.unstopped) seen_.learn(at.unfinished, at.left_s, coming == 0 ? 0 : at.at_s, least - at.cost);
    return least;
}

}  // namespace halcyon::policy
