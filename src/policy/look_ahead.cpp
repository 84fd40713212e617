#include "policy/look_ahead.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "policy/problem_of.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Of decisions that ask for the next one at once, which can only be rounding.
constexpr double least_step_s = 1e-6;

void copy(const ledger* from, ledger& to) {
    if (from != nullptr)
        to = *from;
    else
        to = ledger();
}

}  // namespace

void look_ahead::clear() {
    from_s_.clear();
    turn_s_.clear();
}

application& look_ahead::add(double from_s) {
    if (all_.size() == from_s_.size()) all_.emplace_back();
    from_s_.push_back(from_s);
    turn_s_.push_back(not_known);
    return all_[from_s_.size() - 1];
}

void look_ahead::look(const outlook& from, decider& with) {
    from_ = &from;
    start();
    let_move(from.move);
    decide_on(with);
    from_ = nullptr;
}

void look_ahead::decide_on(decider& with) {
    for (size_t i = 0; i < all().size(); ++i)
        if (turn_s_[i] == not_known && from_s_[i] > now_s_) all_[i].state = movement::computing;
    double until_s = from_->until_s;
    size_t applications = from_->applications;
    while (std::ranges::find(turn_s_, not_known) != turn_s_.end()) {
        const auto here = static_cast<size_t>(std::ranges::count_if(all(), present));
        const size_t decided_about = std::max<size_t>(here, 1);
        if (applications < decided_about) return queue_up();
        applications -= decided_about;
        go(until_s, here > 0);
        situation now = from_->storage;
        now.applications = all();
        if (divides_time()) now.accounts = &accounts_, now.sets = &sets_;
        const decision& made = with.decide(now, from_->by, from_->minimise, now_s_, how_);
        let_move(made.move);
        until_s = std::max(made.ask_again_s, now_s_ + least_step_s);
    }
}

void look_ahead::start() {
    how_ = from_->how;
    how_.alternatives = false;
    how_.search_positions = std::min(how_.search_positions, search_positions);
    how_.search_budget = settings{}.search_budget;
    how_.ask_again_s = sound::longest_s;  // no forecast changes here
    if (divides_time()) {
        copy(from_->storage.accounts, accounts_);
        copy(from_->storage.sets, sets_);
    }
    begin_s_ = now_s_ = from_->now_s;
    for (size_t i = 0; i < all().size(); ++i) {
        application& one = all_[i];
        one.left_s = sound::left_s(one);
        one.since_s = sound::finite_or(one.since_s, now_s_);
        if (one.state == movement::moving) turn_s_[i] = 0;
    }
}

void look_ahead::let_move(std::span<const uint64_t> ids) {
    move_.assign(ids.begin(), ids.end());
    std::ranges::sort(move_);
    for (size_t i = 0; i < all().size(); ++i) {
        application& one = all_[i];
        const bool moves = std::ranges::binary_search(move_, one.id);
        if (!present(one) || moves == (one.state == movement::moving)) continue;
        one.waited_s = moves ? now_s_ - one.since_s : 0;
        one.since_s = now_s_;
        one.state = moves ? movement::moving : movement::interrupted;
        if (moves && turn_s_[i] == not_known) turn_s_[i] = now_s_ - begin_s_;
    }
}

/// Up to the first end or begin, `until_s` at the latest. Where nobody moves, but somebody is here: to no later time.
void look_ahead::go(double until_s, bool anybody_is_here) {
    find_speeds();
    double next_s = !movers_.empty() ? until_s : anybody_is_here ? now_s_ : infinite;
    for (size_t i = 0; i < all().size(); ++i)
        if (is_still_to_come(i)) next_s = std::min(next_s, from_s_[i]);
    double took_s = std::max(next_s - now_s_, 0.0);
    bool one_ends = false;
    for (const mover& one : movers_) {
        const double ends_in_s = all_[one.index].left_s / one.speed;
        if (ends_in_s >= took_s) continue;
        took_s = ends_in_s;
        one_ends = true;
    }
    now_s_ = one_ends ? now_s_ + took_s : std::max(now_s_, next_s);
    for (const mover& moved : movers_) {
        application& one = all_[moved.index];
        if (divides_time()) {
            accounts_.charge(one.account, took_s, now_s_);
            sets_.charge(set_of(one), took_s, now_s_);
        }
        const double before_s = one.left_s;
        one.left_s -= took_s * moved.speed;
        if (one.left_s > 1e-9 * std::max(before_s, 1.0)) continue;
        one.left_s = 0;
        one.state = movement::computing;
    }
    for (size_t i = 0; i < all().size(); ++i)
        if (is_still_to_come(i) && from_s_[i] <= now_s_) all_[i].state = movement::waiting;
}

void look_ahead::find_speeds() {
    movers_.clear();
    targets_.clear();
    for (uint32_t i = 0; i < all().size(); ++i) {
        if (all_[i].state != movement::moving) continue;
        targets_.add(all_[i].targets);
        movers_.push_back({0, i, 1});
    }
    for (uint32_t k = 0; k < movers_.size(); ++k) movers_[k].group = targets_.group_of(k);
    std::ranges::sort(movers_, {}, [](const mover& one) { return std::pair(one.group, one.index); });
    for (size_t begin = 0, end = 0; begin < movers_.size(); begin = end) {
        while (end < movers_.size() && movers_[end].group == movers_[begin].group) ++end;
        const std::span<mover> together = std::span(movers_).subspan(begin, end - begin);
        if (together.size() > problem::most) {
            for (mover& one : together) one.speed = 1 / static_cast<double>(together.size());
            continue;
        }
        problem_builder build(side_by_side_, from_->storage.learned, from_->storage.unseen_share, now_s_);
        for (const mover& one : together) build.add({&all_[one.index], now_s_, all_[one.index].left_s, 1, true});
        problem::values speed{};
        speeds_of(side_by_side_, side_by_side_.all(), speed);
        for (size_t k = 0; k < together.size(); ++k) together[k].speed = speed[k];
    }
}

double look_ahead::preference(const application& one, const circumstances& in) const {
    const contender its{&one, sound::arrived_s(one, now_s_), one.left_s, cost_per_s(one, from_->minimise), false};
    switch (from_->by) {
        case rule::interfere:
        case rule::fcfs:
        case rule::delay:
            break;
        case rule::interrupt:
            return -its.arrived_s;
        case rule::fair_share:
            return served_account(its, in);
        case rule::set_10:
            return served_set(its, in);
        case rule::dynamic:  // Smith's rule
            return -its.cost_per_s / (sound::demand(one) * std::max(one.left_s, sound::shortest_s));
    }
    return its.arrived_s;
}

/// Until the next one may have its turn.
double look_ahead::turn_lasts_s(const application& one) const {
    if (from_->by == rule::interfere) return 0;
    if (!divides_time()) return one.left_s;
    const double slice_s = sound::or_else(how_.slice_s, settings{}.slice_s);
    const bool moves = one.state == movement::moving;
    return std::min(one.left_s, moves ? std::max(one.since_s + slice_s - now_s_, 0.0) : slice_s);
}

/// Those that share storage over others count as sharing it.
void look_ahead::queue_up() {
    situation now = from_->storage;
    if (divides_time()) now.accounts = &accounts_, now.sets = &sets_;
    const circumstances in{&now, now_s_, how_, false};
    followers_.clear();
    for (uint32_t i = 0; i < all().size(); ++i) {
        const application& one = all_[i];
        if (!present(one) && !is_still_to_come(i)) continue;
        const bool moves = one.state == movement::moving;
        followers_.push_back({moves ? -infinite : preference(one, in), sound::arrived_s(one, now_s_), i});
    }
    std::ranges::sort(followers_, {}, [&](const follower& one) {
        return std::tuple(one.preference, one.arrived_s, all_[one.index].id);
    });
    targets_.clear();
    for (const follower& one : followers_) targets_.add(all_[one.index].targets);
    before_s_.assign(followers_.size(), now_s_ - begin_s_);
    const double starvation_s = sound::or_else(how_.starvation_s, settings{}.starvation_s);
    for (uint32_t k = 0; k < followers_.size(); ++k) {
        const uint32_t i = followers_[k].index;
        const application& one = all_[i];
        double& before_s = before_s_[targets_.group_of(k)];
        if (turn_s_[i] == not_known) {
            const double starves_in_s = std::max(one.since_s + starvation_s - begin_s_, 0.0);
            turn_s_[i] = std::max(std::min(before_s, starves_in_s), from_s_[i] - begin_s_);
        }
        before_s += turn_lasts_s(one);
    }
}

}  // namespace halcyon::policy
