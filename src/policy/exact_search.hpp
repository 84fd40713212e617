#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "policy/end_orders.hpp"
#include "policy/end_prices.hpp"
#include "policy/problem.hpp"
#include "policy/quick_bounds.hpp"
#include "policy/seen_positions.hpp"

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
/// Most searches are over after some hundred positions, with bounds that take few steps (quick_bounds). One that is not
/// goes on with a bound that costs more (end_order_bound), and keeps in mind how much schedules cost from the positions
/// on that it has been at (seen_positions).
class exact_search {
  public:
    /// `nodes`: gives up after so many. `known`: a plan that exists, e.g. of a heuristic.
    plan solve(const problem& of, const speed_table& speeds, const plan& known, uint64_t nodes = UINT64_MAX);

  private:
    /// After which a search is thorough: as many as make up for what it prepares then.
    static constexpr uint64_t quick_positions = 500;

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

    /// Prices that suit a position, of which there are few.
    struct ahead {
        std::array<end_prices, 2> prices;
        size_t used = 0;
    };
    /// A linear program takes as long as so many positions.
    static constexpr uint32_t positions_of_program = 4;
    /// Likewise, looks at all sets of more than 8 that are present, beyond the position itself.
    static constexpr uint64_t positions_of_sets(members here) {
        const auto count = std::popcount(here);
        return count > 8 ? (uint64_t{1} << count) / 32 - 1 : 0;
    }
    /// Of more unfinished ones there are too many orders.
    static constexpr uint32_t most_by_orders = 6;

    void be_thorough();
    bool is_hopeless(const position& at, members coming, uint32_t depth);
    double search(const position& at, const turn& before, uint32_t depth);
    /// Those worth a search, the best bound first. `least`: of the bounds of all others.
    void find_children(const position& at, const turn& before, members here, uint32_t depth, double& least);
    bool pair_twins(const position& at, members here, std::array<members, problem::most>& before) const;
    turn go(const position& from, members here, members set, position& to) const;
    /// `from`: the position before, if the search is thorough.
    [[nodiscard]] double bound(position& at, ahead* from);
    [[nodiscard]] double cost_of_last(const position& at) const;
    /// Those that have not arrived.
    [[nodiscard]] members late(const position& at) const;
    [[nodiscard]] bool better_the_other_way(const turn& before, const turn& made, members ended) const;
    [[nodiscard]] double to_beat() const;
    void found(members first, double cost);

    const problem* of_ = nullptr;
    const speed_table* speeds_ = nullptr;
    quick_bounds bounds_;
    bool thorough_ = false;
    end_orders orders_;
    std::vector<ahead> ahead_;  ///< by depth
    end_prices trial_;
    seen_positions seen_;
    problem::values alone_{};  ///< time of each second that is left, alone: above 1 where others leave it too little
    std::array<members, problem::most>
        twins_{};                               ///< [i]: those before i that differ from it in nothing but what is left
    std::vector<std::vector<child>> children_;  ///< by depth
    members first_ = 0;                         ///< of the schedule looked at
    plan best_;
    uint64_t limit_ = 0;
};

}  // namespace halcyon::policy
