#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policy/problem.hpp"

namespace halcyon::policy {

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

/// Two lower bounds of the cost of all schedules through a position, in few steps each.
///
/// By machine: with rates r_i such that no set S takes more than 1 = sum of r_i speed_i(S), every schedule is one of a
/// single machine on which i takes r_i left_i. There the mean busy times are least by Smith's rule, and an application
/// ends half of its time alone after its mean busy time at the earliest. By pairs: every second that i loses is lost
/// beside j, by the excess of their slow-down, or while it waits for those that move, of which r_j speed_j at most are
/// put down to j. So a pair costs what the one that ends first makes the other wait, or both lose side by side.
class quick_bounds {
  public:
    void prepare(const problem& of, const speed_table& speeds);
    [[nodiscard]] double by_pairs(const position& at) const;
    /// Without pairs; [i][j]: what i costs more that ends before j, at least.
    double pair_costs(const position& at, std::array<problem::values, problem::most>& waits) const;
    /// Puts it in order, too.
    [[nodiscard]] double by_machine(position& at) const;
    void order_by_smith(position& at) const;

  private:
    void tighten_rates();
    void weigh_pairs();
    /// The same in fewer steps, where all have arrived: most positions.
    [[nodiscard]] double pairs_of_present(const position& at) const;
    [[nodiscard]] double pairs_with_arrivals(const position& at) const;
    [[nodiscard]] double with_arrivals(const position& at) const;

    const problem* of_ = nullptr;
    const speed_table* speeds_ = nullptr;
    problem::values rate_{};  ///< r_i above
    /// [i][j]: what each second of i costs the two while j is unfinished, at least.
    std::array<problem::values, problem::most> beside_{};
    std::array<problem::values, problem::most> beside_to_{};  ///< [i][j]: beside_[j][i]
    double last_arrival_s_ = 0;
    std::vector<double> taken_;  ///< by set
};

}  // namespace halcyon::policy
