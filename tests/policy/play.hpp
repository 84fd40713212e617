#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "policy/contender.hpp"
#include "policy/decide.hpp"
#include "policy/problem_of.hpp"

namespace halcyon::policy {

/// Lets applications take turns as decisions say, with speeds that are just as forecast: at most problem::most of them.
class play {
  public:
    /// All of them still to come, at their `arrived_s`; `forecast`: that is known before.
    play(std::vector<application> coming, rule by, metric minimise, const settings& how = {}, bool forecast = false)
        : all_(std::move(coming)), by_(by), minimise_(minimise), how_(how), ends_s_(all_.size(), -1) {
        for (application& one : all_) one.state = forecast ? movement::expected : movement::computing;
    }

    const interference* learned = nullptr;
    ledger accounts{60};
    ledger sets{60};
    double longest_wait_s = 0;
    uint64_t decisions = 0;
    /// Called after every decision.
    std::function<void(const decision&, double now_s)> look;

    /// The time of each from its arrival to its end, in the given order.
    std::vector<double> times() {
        while (std::ranges::any_of(ends_s_, [](double end_s) { return end_s < 0; })) step();
        std::vector<double> times;
        for (size_t i = 0; i < all_.size(); ++i) times.push_back(ends_s_[i] - all_[i].arrived_s);
        return times;
    }

    /// Of `times()`, as the metric adds them up.
    double cost() {
        const std::vector<double> taken_s = times();
        double sum = 0;
        for (size_t i = 0; i < all_.size(); ++i) sum += taken_s[i] * cost_per_s(all_[i], minimise_);
        return sum;
    }

  private:
    void step() {
        for (size_t i = 0; i < all_.size(); ++i) {
            application& one = all_[i];
            if (present(one) || ends_s_[i] >= 0 || one.arrived_s > now_s_) continue;
            one.state = movement::waiting;
            one.since_s = now_s_;
        }
        situation now{all_, learned, &accounts, &sets, 0};
        const decision& made = decider_.decide(now, by_, minimise_, now_s_, how_);
        ++decisions;
        apply(made);
        if (look) look(made, now_s_);
        go(made);
    }

    void apply(const decision& made) {
        for (application& one : all_) {
            const bool moves = std::ranges::find(made.move, one.id) != made.move.end();
            if (!present(one) || moves == (one.state == movement::moving)) continue;
            one.waited_s = moves ? now_s_ - one.since_s : 0;
            one.since_s = now_s_;
            one.state = moves ? movement::moving : movement::interrupted;
        }
    }

    /// Until anything changes.
    void go(const decision& made) {
        problem movers;
        problem_builder build(movers, learned, 0, now_s_);
        std::vector<size_t> index;
        double until_s = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < all_.size(); ++i) {
            const application& one = all_[i];
            if (one.state == movement::moving) {
                build.add({&one, one.arrived_s, one.left_s, 1, true});
                index.push_back(i);
            } else if (present(one)) {
                longest_wait_s = std::max(longest_wait_s, std::min(made.ask_again_s, until_s) - one.since_s);
            } else if (ends_s_[i] < 0) {
                until_s = std::min(until_s, one.arrived_s);
            }
        }
        if (!index.empty() || made.ask_again_s > now_s_) until_s = std::min(until_s, made.ask_again_s);
        problem::values speed{};
        speeds_of(movers, movers.all(), speed);
        for (size_t k = 0; k < index.size(); ++k)
            until_s = std::min(until_s, now_s_ + all_[index[k]].left_s / speed[k]);
        const double took_s = until_s - now_s_;
        now_s_ = until_s;
        for (size_t k = 0; k < index.size(); ++k) {
            application& one = all_[index[k]];
            accounts.charge(one.account, took_s, now_s_);
            sets.charge(set_of(one), took_s, now_s_);
            one.left_s -= took_s * speed[k];
            if (one.left_s > 1e-9 * one.alone_s) continue;
            one.left_s = 0;
            one.state = movement::computing;
            ends_s_[index[k]] = now_s_;
        }
    }

    std::vector<application> all_;
    rule by_;
    metric minimise_;
    settings how_;
    std::vector<double> ends_s_;
    decider decider_;
    double now_s_ = 0;
};

/// A phase of `alone_s` that saturates the storage.
inline application phase(uint64_t id, double arrived_s, double alone_s, double weight = 1) {
    application made;
    made.id = id;
    made.arrived_s = arrived_s;
    made.alone_s = made.left_s = alone_s;
    made.weight = weight;
    return made;
}

}  // namespace halcyon::policy
