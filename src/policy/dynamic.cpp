#include "policy/dynamic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "policy/problem_of.hpp"
#include "policy/rollout.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Without looking at pairs: all take all of the same storage, and nothing else is known of them.
bool all_saturate(const group& of, const situation& in) {
    if (in.learned != nullptr && !in.learned->empty()) return false;
    return std::ranges::all_of(
        of.present, [](const contender& one) { return one.of->targets.empty() && sound::demand(*one.of) == 1; });
}

}  // namespace

const contender& dynamic::at(const group& of, uint32_t index) const {
    return index < of.present.size() ? of.present[index] : of.expected[index - of.present.size()];
}

/// In the order of arrival, so that ties are decided by it.
void dynamic::pick_head(const group& of, const circumstances& in) {
    const auto count = static_cast<uint32_t>(of.present.size() + of.expected.size());
    queue_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
        const contender& one = at(of, i);
        const double busy_s = sound::demand(*one.of) * std::max(one.left_s, sound::shortest_s);
        queue_[i] = {one.cost_per_s / busy_s, i};
    }
    in_head_ = head_of(count);
    near_head_ = std::min(count, in_head_ + joining);
    if (count <= exact) return;
    const auto moving = std::ranges::count_if(of.present, &contender::moving);
    if (in.how.interruption_s > 0 && moving <= in_head_ / 2) {
        for (candidate& one : queue_)
            if (at(of, one.index).moving) one.score = std::numeric_limits<double>::infinity();
    }
    const auto better = [](const candidate& a, const candidate& b) {
        return a.score > b.score || (a.score == b.score && a.index < b.index);
    };
    if (near_head_ < count) std::ranges::nth_element(queue_, queue_.begin() + near_head_, better);
    std::ranges::sort(queue_.begin(), queue_.begin() + near_head_, better);
    std::ranges::sort(queue_.begin(), queue_.begin() + in_head_, {}, &candidate::index);
}

void dynamic::look_at(const group& of, const circumstances& in) {
    pick_head(of, in);
    problem_builder build(head_, in.of->learned, in.of->unseen_share, in.now_s);
    spent_ = 0;
    double present_cost_per_s = 0;
    for (uint32_t k = 0; k < in_head_; ++k) {
        const contender& one = at(of, queue_[k].index);
        build.add(one);
        if (!present(*one.of)) continue;
        spent_ += one.cost_per_s * (in.now_s - one.arrived_s);
        present_cost_per_s += one.cost_per_s;
    }
    for (size_t k = in_head_; k < queue_.size(); ++k) head_.cost_after_per_s += at(of, queue_[k].index).cost_per_s;
    head_.interruption_cost = in.how.interruption_s * (present_cost_per_s + head_.cost_after_per_s);
    speeds_.fill(head_);
}

double dynamic::cost_of(rule other) const {
    const auto cost = [&](const auto& choose) { return spent_ + follow(choose).cost; };
    switch (other) {
        case rule::interfere:
            return cost([](members here, const problem::values&) { return here; });
        case rule::interrupt:
            return cost([&](members here, const problem::values&) { return in_order(head_, here, true); });
        default:
            return cost([&](members here, const problem::values&) { return in_order(head_, here, false); });
    }
}

/// What comes of a rule.
template <class Choose>
plan dynamic::follow(const Choose& choose) const {
    const members first = choose(head_.arrived(), head_.left_s);
    return {first, roll_out(head_, speeds_, choose), 0, true};
}

/// Those that move go on until the first of them ends; then Smith's rule.
plan dynamic::keep_moving() const {
    const members kept = head_.moving;
    const double cost = roll_out(head_, speeds_, [&](members here, const problem::values& left_s) {
        return kept != 0 && (kept & ~here) == 0 ? kept : by_smith(head_, here, left_s);
    });
    return {head_.moving, cost, 0, true};
}

/// The best of simple rules, and what the search finds from there.
void dynamic::plan_head(uint64_t positions) {
    best_ = follow([&](members some, const problem::values& left_s) { return by_smith(head_, some, left_s); });
    const double interruption = head_.cost_of_first(best_.first);
    by_smith_ = interruption == 0 && head_.arrived() == head_.all() && overlap_never_gains(head_);
    spared_ = false;
    if (by_smith_) return;
    const auto consider = [&](const plan& other) {
        if (other.cost < best_.cost) best_ = other;
    };
    if (interruption > 0) consider(keep_moving());
    consider(
        follow([&](members some, const problem::values& left_s) { return densest(head_, speeds_, some, left_s); }));
    consider(follow([](members some, const problem::values&) { return some; }));
    best_ = search_.solve(head_, speeds_, best_, positions);
    spared_ = interruption > 0 && head_.cost_of_first(best_.first) == 0;
}

/// The best plan that interrupts nobody now, unless the chosen one gains enough.
void dynamic::keep_unless_gain(uint64_t positions, double least_gain) {
    if (by_smith_ || head_.cost_of_first(best_.first) == 0) return;
    // Costs more than any schedule.
    const double usual = std::exchange(head_.interruption_cost, 1e3 * best_.cost);
    plan kept = search_.solve(head_, speeds_, keep_moving(), positions - std::min(positions, best_.nodes));
    head_.interruption_cost = usual;
    // Positions of both searches count, whichever plan is taken.
    kept.nodes += best_.nodes;
    best_.nodes = kept.nodes;
    if (head_.cost_of_first(kept.first) > 0 || kept.cost > best_.cost * (1 + least_gain)) return;
    best_ = kept;
}

void dynamic::choose(const group& of, const circumstances& in, turns& into) {
    look_at(of, in);
    const bool all = in_head_ == queue_.size();
    plan_head(all ? in.how.search_positions : head_positions(queue_.size()));
    if (all && in.how.least_gain > 0) keep_unless_gain(in.how.search_positions, in.how.least_gain);
    for (members rest = best_.first; rest != 0; rest &= rest - 1)
        into.movers.push_back(queue_[static_cast<uint32_t>(std::countr_zero(rest))].index);
    if (by_smith_ && (all || (of.expected.empty() && all_saturate(of, *in.of)))) {
        into.why = reason::smiths_rule;
        return;
    }
    into.why = all && best_.complete        ? reason::least_cost
               : all && in.ends_with_budget ? reason::search_budget
                                            : reason::heuristic_cost;
    if (all) return;
    if (!spared_) join_head(of, in, into);
    join_apart(of, into);
}

/// Lets those behind the head move beside those of it where cost then ends faster.
void dynamic::join_head(const group& of, const circumstances& in, turns& into) {
    problem side_by_side;
    problem_builder build(side_by_side, in.of->learned, in.of->unseen_share, in.now_s);
    for (const uint32_t i : into.movers) build.add(of.present[i]);
    const auto density = [&] {
        problem::values speed{};
        speeds_of(side_by_side, side_by_side.all(), speed);
        double sum = 0;
        for (uint32_t i = 0; i < side_by_side.count; ++i)
            sum += side_by_side.cost_per_s[i] / side_by_side.left_s[i] * speed[i];
        return sum;
    };
    double best = density();
    for (size_t k = in_head_; k < near_head_ && side_by_side.count < problem::most; ++k) {
        if (queue_[k].index >= of.present.size()) continue;
        build.add(of.present[queue_[k].index]);
        const double with = density();
        if (with > best * (1 + 1e-12)) {
            best = with;
            into.movers.push_back(queue_[k].index);
        } else {
            build.remove_last();
        }
    }
}

/// Lets all move that share nothing with those that do, however many: first who moves already, then by Smith's rule.
void dynamic::join_apart(const group& of, turns& into) {
    const auto uses_all = [&](uint32_t i) { return of.present[i].of->targets.empty(); };
    if (std::ranges::any_of(into.movers, uses_all)) return;
    const std::span<const char> moves = into.moves(of.present.size());
    others_.clear();
    for (const candidate& one : queue_)
        if (one.index < moves.size() && moves[one.index] == 0) others_.push_back(one);
    std::ranges::sort(others_, {}, [&](const candidate& one) {
        return std::tuple(!of.present[one.index].moving, -one.score, one.index);
    });
    for (const candidate& one : others_) into.add_if_apart(of, one.index);
}

}  // namespace halcyon::policy
