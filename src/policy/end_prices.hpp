#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policy/problem.hpp"

namespace halcyon::policy {

/// A lower bound of the cost of all schedules from a position on, from the orders in which applications can end.
///
/// Let the unfinished end in some order; A_i are those that end with i or after it. Each second in which a set S moves
/// costs c(A_f) at least, the cost per second of all that are unfinished while f is, the first of S that ends. So any
/// prices y with
///
///     sum over i in S of y_i speed_i(S) <= c(A_f)   for every S
///
/// bound the cost of every schedule with that order of ends from below, by sum of y_i left_i: the left side is the
/// price of the work that S does in a second. (They are solutions of the dual of the linear program that lets sets
/// change at any time.) Here y_i depends on i and A_i only, so that the least bound of all orders is found set by set:
/// with k unfinished in k 2^k steps instead of k!.
///
/// Applications that are still to come: those of `late` cost their time up to their arrival by themselves, and are in
/// nobody's way until then. A set without j of `late` may move before j comes, so it counts c(A_f) without c_j only.
class end_prices {
  public:
    /// Prices that suit a position: 4^k steps. `less`: by how much prices of small sets are kept below the highest
    /// possible ones, in favour of those of large sets. Returns the bound there.
    double prepare(const problem& of, const speed_table& speeds, members unfinished, const problem::values& left_s,
                   double at_s, members late, double less);
    /// Of another position, whose unfinished ones are among them.
    double of(members unfinished, const problem::values& left_s, double at_s);

  private:
    using row = problem::values;

    void price(uint32_t after, double share);
    [[nodiscard]] double until_arrivals(members unfinished, double at_s) const;

    const problem* of_ = nullptr;
    members late_ = 0;
    // All below: of the unfinished ones, numbered anew.
    uint32_t count_ = 0;
    std::array<uint32_t, problem::most> number_{};
    problem::values left_s_{};
    std::vector<row> speed_;      ///< by set
    std::vector<double> cost_;    ///< per second, by set
    std::vector<row> price_;      ///< [A][i]: y_i above
    std::vector<row> highest_;    ///< likewise, the highest of all subsets of A
    std::vector<double> value_;   ///< by set: the bound where these are unfinished
    std::vector<double> others_;  ///< by subset of a set S: the most that its members add up to, in all orders
    std::vector<double> least_;   ///< by set
};

}  // namespace halcyon::policy
