#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/application.hpp"
#include "policy/decide.hpp"
#include "policy/groups.hpp"

namespace halcyon::policy {

/// An application that wants storage that others of its group want, too, with sound numbers.
struct contender {
    const application* of = nullptr;
    double arrived_s = 0;
    double left_s = 0;
    double cost_per_s = 0;
    bool moving = false;
};

/// By arrival, then by id.
inline bool before(const contender& a, const contender& b) {
    return a.arrived_s < b.arrived_s || (a.arrived_s == b.arrived_s && a.of->id < b.of->id);
}

/// Those that are decided about together. `present` is in the order of arrival, and not empty.
struct group {
    std::span<const contender> present;
    std::span<const contender> expected;
};

/// Who of a group moves: indices into `present`. A rule fills it, in the order of its preference.
struct turns {
    std::vector<uint32_t> movers;
    reason why = reason::alone;
    double until_s = 0;  ///< to be decided again then at the latest
    // Memory for a rule's order of preference.
    std::vector<uint32_t> order;
    std::vector<double> served;

    void clear(double at_the_latest_s);
    void let_nobody_move();
    /// Lets `one` move beside those that do already, unless it shares storage with one of them. By its targets, not by
    /// a look at each of the others: there may be thousands.
    bool add_if_apart(const group& of, uint32_t one);
    /// By index into `present`: whether it moves. Valid until the next call; movers that are added later are not in it.
    [[nodiscard]] std::span<const char> moves(size_t present);

  private:
    target_groups taken_;  ///< of the first `looked_at_` movers
    size_t looked_at_ = 0;
    std::vector<char> moves_;
};

/// Everything a rule needs to know but the group.
struct circumstances {
    const situation* of = nullptr;
    double now_s = 0;
    settings how;
    bool ends_with_budget = false;  ///< a search of the decision does, rather than with settings::search_positions
};

/// What its account had of the storage lately, over its weight; what its set had, over its priority. Who had the least
/// has the next slice.
double served_account(const contender& one, const circumstances& in);
double served_set(const contender& one, const circumstances& in);

void choose_all(const group& of, turns& into);
void choose_first(const group& of, turns& into);
void choose_newest(const group& of, turns& into);
void choose_tolerated(const group& of, const circumstances& in, turns& into);
void choose_least_served_account(const group& of, const circumstances& in, turns& into);
void choose_least_served_set(const group& of, const circumstances& in, turns& into);

}  // namespace halcyon::policy
