#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "policy/problem.hpp"
#include "policy/random_situation.hpp"

namespace halcyon::policy {

/// Applications of a situation that are decided about together, and the problem that they are. Written by what the
/// headers say of applications, metrics, settings and decisions, without anything that decides.
struct defined_group {
    std::vector<const application*> all;  ///< those that are present and have something left, then those expected
    uint32_t present = 0;
    problem of;
    double spent = 0;  ///< cost up to now

    [[nodiscard]] uint64_t first_id() const {
        uint64_t least = all.front()->id;
        for (uint32_t i = 0; i < present; ++i) least = std::min(least, all[i]->id);
        return least;
    }
};

class defined_groups {
  public:
    defined_groups(const random_situation& in, metric minimise) : in_(in), minimise_(minimise) { find(); }

    std::vector<defined_group> found;

    static bool share(const application& a, const application& b) {
        if (a.targets.empty() || b.targets.empty()) return true;
        return std::ranges::any_of(a.targets, [&](uint32_t one) { return std::ranges::count(b.targets, one) > 0; });
    }
    /// It has waited for too long, or has the turn since it had.
    [[nodiscard]] bool starves(const application& one) const {
        const double so_long_s = random_situation::now_s - one.since_s;
        if (one.state != movement::moving) return so_long_s >= in_.how.starvation_s;
        return one.waited_s >= in_.how.starvation_s && so_long_s < in_.how.relief_s;
    }

  private:
    [[nodiscard]] double cost_per_s(const application& one) const {
        switch (minimise_) {
            case metric::sum_of_times:
                return one.account_weight;
            case metric::sum_of_interference_factors:
                return one.account_weight / one.alone_s;
            case metric::cpu_hours:
                return one.account_weight * static_cast<double>(one.processes) / 3600;
            case metric::energy:
                return one.account_weight * static_cast<double>(one.nodes) * one.watts_per_node;
        }
        return 0;
    }

    /// Shares by weights; who takes less than its share leaves the rest to the other.
    [[nodiscard]] slow_downs between(const application& a, const application& b) const {
        if (!in_.learned.empty()) return in_.learned.between(a, b);
        const double part = a.weight / (a.weight + b.weight);
        double of_a = part, of_b = 1 - part;
        if (a.demand <= part) {
            of_a = a.demand;
            of_b = std::min(b.demand, 1 - a.demand);
        } else if (b.demand <= 1 - part) {
            of_b = b.demand;
            of_a = std::min(a.demand, 1 - b.demand);
        }
        return {a.demand / of_a, b.demand / of_b};
    }

    void find() {
        std::vector<const application*> present, coming;
        double left_s = 0;
        for (const application& one : in_.all) {
            if (one.state != movement::expected) left_s += one.left_s;
            if (one.state != movement::expected)
                present.push_back(&one);
            else if (one.probability >= in_.how.least_probability)
                coming.push_back(&one);
        }
        std::ranges::sort(coming, {}, &application::arrived_s);
        const double all_end_s = random_situation::now_s + left_s / (1 - in_.unseen_share);
        if (present.size() < 2) coming.clear();
        std::vector<size_t> label(present.size());
        std::iota(label.begin(), label.end(), size_t{0});
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t i = 0; i < present.size(); ++i)
                for (size_t j = 0; j < present.size(); ++j)
                    if (label[j] < label[i] && share(*present[i], *present[j])) label[i] = label[j], changed = true;
        }
        for (size_t first = 0; first < present.size(); ++first) {
            defined_group made;
            for (size_t i = 0; i < present.size(); ++i)
                if (label[i] == first && present[i]->left_s > 0) made.all.push_back(present[i]);
            if (made.all.empty()) continue;
            made.present = static_cast<uint32_t>(made.all.size());
            const size_t most = made.present + std::min<size_t>(2, 8 - made.present);
            for (const application* one : coming) {
                bool meets = false;
                for (size_t i = 0; i < present.size(); ++i)
                    meets = meets || (label[i] == first && share(*one, *present[i]));
                if (meets && one->arrived_s <= all_end_s && made.all.size() < most) made.all.push_back(one);
            }
            describe(made);
            found.push_back(made);
        }
    }

    void describe(defined_group& one) const {
        problem& of = one.of;
        of.count = static_cast<uint32_t>(one.all.size());
        of.capacity = 1 - in_.unseen_share;
        double present_cost_per_s = 0;
        for (uint32_t i = 0; i < of.count; ++i) {
            const application& a = *one.all[i];
            const bool comes = a.state == movement::expected;
            of.left_s[i] = a.left_s;
            of.cost_per_s[i] = cost_per_s(a) * (comes ? a.probability : 1);
            of.arrives_s[i] = comes ? a.arrived_s - random_situation::now_s : 0;
            of.demand[i] = a.demand;
            of.shares_with[i] |= members{1} << i;
            if (a.state == movement::moving) of.moving |= members{1} << i;
            if (!comes) present_cost_per_s += of.cost_per_s[i];
            if (!comes) one.spent += of.cost_per_s[i] * (random_situation::now_s - a.arrived_s);
            for (uint32_t j = 0; j < i; ++j) {
                const application& b = *one.all[j];
                if (!share(a, b)) continue;
                of.shares_with[i] |= members{1} << j;
                of.shares_with[j] |= members{1} << i;
                const slow_downs pair = between(a, b);
                of.excess[i][j] = pair.first - 1;
                of.excess[j][i] = pair.second - 1;
                const double borne = a.demand / pair.first + b.demand / pair.second;
                of.borne[i][j] = of.borne[j][i] = of.capacity * borne;
            }
        }
        of.interruption_cost = in_.how.interruption_s * present_cost_per_s;
    }

    const random_situation& in_;
    metric minimise_;
};

}  // namespace halcyon::policy
