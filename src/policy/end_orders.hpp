#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policy/problem.hpp"
#include "policy/quick_bounds.hpp"

namespace halcyon::policy {

/// Says of positions that no schedule from there on costs less than some amount, by the orders in which applications
/// can end.
///
/// Let the unfinished end in some order; A_i are those that end with i or after it. Each second in which a set S moves
/// costs c(A_f) at least, the cost per second of all that are unfinished while f is, the first of S that ends. So any
/// prices y with
///
///     sum over i in S of y_i speed_i(S) <= c(A_f)   for every S
///
/// bound the cost of every schedule with that order of ends from below, by sum of y_i left_i: the left side is the
/// price of the work that S does in a second. The best such prices are the dual solution of the linear program that
/// lets sets change at any time; few instances have a schedule of that kind that is better than all others.
///
/// The same prices fit many orders, and all positions with the same unfinished ones. So prices are kept, and a linear
/// program is solved only for an order that none of them fits whose bound is high enough. Prices of a bound that is
/// more than high enough are lowered, so that they fit more orders.
///
/// Applications that are still to come divide time into periods, of which all but the last have a known length. A set
/// of those that are there in a period may move in it, and costs c(A_f and those still to come) a second. A period has
/// a price of its own, for each second of it: at most the cost per second of those still to come, since nobody may
/// move.
class end_orders {
  public:
    static constexpr uint32_t most = 8;

    void start(const problem& of, const speed_table& speeds, const quick_bounds& quick);
    /// Of at most `most` unfinished ones. False: one may, or it is not known, e.g. since more than so many linear
    /// programs would have to be solved.
    bool none_costs_less(const position& at, double than, uint32_t most_solved);
    /// Linear programs that the last answer took, or one more than it was allowed to.
    [[nodiscard]] uint32_t solved() const { return solved_; }

  private:
    static constexpr uint32_t most_prices = 256;
    static constexpr uint32_t most_periods = 6;
    static constexpr uint32_t most_rows = most + most_periods;
    using bits = std::array<uint64_t, most_prices / 64>;

    struct prices {
        std::array<double, most> of_work{};          ///< y_i
        std::array<double, most_periods> of_time{};  ///< by period
    };
    /// All that does not depend on how much is left. Members are numbered anew, from 0.
    struct pool {
        uint32_t round = 0;
        members late = 0;
        uint32_t count = 0;
        std::array<uint32_t, most> number{};
        std::vector<std::array<double, most>> speed;  ///< by set
        std::vector<double> cost;                     ///< per second, by set
        uint32_t periods = 0;
        std::array<members, most_periods> there{};  ///< by period
        std::vector<prices> known;
        std::vector<bits> fits;      ///< [A * most + f]: prices that allow f to be the first of A to end
        std::vector<bits> fits_all;  ///< by A: in all orders
    };
    /// A column of the linear program: a set in a period; the empty one is time in which nobody moves.
    struct column {
        members set = 0;
        uint32_t period = 0;
    };

    pool& prepare(const position& at, members late);
    void set_periods(const position& at, pool& of);
    bool look_at_orders(pool& of, members rest, const bits& fitting, uint32_t depth, double above);
    bool add_prices(pool& of);
    void keep(pool& of, const prices& some);
    bool solve(const pool& of, prices& found);
    [[nodiscard]] double bound(const pool& of, const prices& some) const;

    const problem* of_ = nullptr;
    const speed_table* speeds_ = nullptr;
    const quick_bounds* quick_ = nullptr;
    uint32_t round_ = 0;
    std::vector<pool> pools_;  ///< by unfinished ones, and how many of them are late
    // Of the position looked at, its members numbered anew:
    double than_ = 0;
    uint32_t steps_ = 0;
    uint32_t solved_ = 0;
    uint32_t most_solved_ = 0;
    std::array<double, most> left_s_{};
    std::array<double, most_periods> lasts_s_{};
    std::array<std::array<double, most>, most> waits_{};  ///< [i][j]: what it costs that i ends before j, at least
    std::array<uint32_t, most> order_{};                  ///< of ends
    std::array<uint32_t, most> by_smith_{};
    std::array<members, most> after_{};  ///< by position in the order: that one, and those after it
    std::vector<double> need_;           ///< by set
    std::vector<double> dearest_;        ///< [A * most + f]
};

}  // namespace halcyon::policy
