#pragma once

#include <cstdint>
#include <vector>

#include "policy/problem.hpp"

namespace halcyon::policy {

/// Who moves first, and the cost of all that follows. Costs are the sum of cost_per_s times the time from the arrival
/// (from now, for those present) to the end.
struct plan {
    members first = 0;
    double cost = 0;
    uint64_t nodes = 0;    ///< that were looked at
    bool complete = true;  ///< false: the limit ended the search; the best of those looked at
};

/// The least cost over all schedules that let a set of those present move from an arrival or an end to the next one:
/// all orders, preemptions and overlaps. To stop one of those that move now costs something before the first end
/// (problem::interruption_cost); later interruptions are free. Branch and bound, depth first.
///
/// Two bounds. By machine: with rates r_i such that no set S takes more than 1 = sum of r_i speed_i(S), every schedule
/// is one of a single machine on which i takes r_i left_i. There the mean busy times are least by Smith's rule, and an
/// application ends half of its time alone after its mean busy time at the earliest. By pairs: every second that i
/// loses is lost beside j, by the excess of their slow-down, or while it waits for those that move, of which r_j
/// speed_j at most are put down to j. So a pair costs what the one that ends first makes the other wait, or both lose
/// side by side.
class exact_search {
  public:
    /// `nodes`: gives up after so many. `known`: a plan that exists, e.g. of a heuristic.
    plan solve(const problem& of, const speed_table& speeds, const plan& known, uint64_t nodes = UINT64_MAX);

  private:
    /// What is left at an arrival or an end.
    struct position {
        double at_s = 0;
        double cost = 0;  ///< up to now, of all
        members unfinished = 0;
        /// Those that move now have done so all the time, and nobody has ended: to stop one of them still costs.
        bool unstopped = true;
        problem::values left_s{};
        /// The unfinished, about by Smith's rule; some that have ended since may be among them.
        std::array<uint8_t, problem::most> order{};
        uint32_t ordered = 0;
    };
    /// A turn that has ended, from one position to the next.
    struct turn {
        members set = 0;   ///< 0: an arrival ended it
        members here = 0;  ///< present at its begin
        double took_s = 0;
        double ended_cost_per_s = 0;  ///< of those that it brought to their ends
        bool unstopped = false;       ///< position::unstopped at its begin
    };
    struct child {
        double bound = 0;
        members set = 0;
    };

    void tighten_rates();
    void weigh_pairs();
    void search(const position& at, const turn& before, uint32_t depth);
    turn go(const position& from, members here, members set, position& to) const;
    [[nodiscard]] double bound_by_pairs(const position& at) const;
    [[nodiscard]] double bound_by_machine(position& at) const;
    [[nodiscard]] double bound_with_arrivals(const position& at) const;
    [[nodiscard]] bool better_the_other_way(const turn& before, const turn& made, members ended) const;
    void order_by_smith(position& at) const;
    [[nodiscard]] double to_beat() const;
    void found(members first, double cost);

    const problem* of_ = nullptr;
    const speed_table* speeds_ = nullptr;
    problem::values rate_{};  ///< r_i above
    /// [i][j]: what each second of i costs the two while j is unfinished, at least.
    std::array<problem::values, problem::most> beside_{};
    std::vector<double> taken_;                 ///< by set
    std::vector<std::vector<child>> children_;  ///< by depth
    members first_ = 0;                         ///< of the schedule looked at
    plan best_;
    uint64_t limit_ = 0;
};

}  // namespace halcyon::policy
