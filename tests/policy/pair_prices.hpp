#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policy/problem.hpp"
#include "policy/simplex_basis.hpp"

namespace halcyon::policy {

/// A lower bound of the cost of all schedules of a problem, by prices of pairs. Nothing of exact_search is in it.
///
/// Let y_i be the price of the work of i, and y_ij >= 0 that of work of i which is done before j ends, if i ends before
/// j. If for every order of ends, and every set S that moves while A (S, and others) are unfinished,
///
///     sum over i in S of speed_i(S) (y_i + sum over j in A, after i in that order, of y_ij) <= c(A),
///
/// the cost per second of A, then a schedule costs at least what its work is worth: sum of y_i left_i, and of each pair
/// y_ij left_i if i ends before j, else y_ji left_j. The lesser of the two, for each pair, is a bound for all orders.
///
/// The dearest A for S has those j besides, at the end of the order, whose sum of speed_i(S) y_ij is above c_j; and of
/// two in S, that one counts as the first which is worth more. (An order of all of S may be worth less.) The highest
/// prices are the dual solution of a linear program: how long each S moves in an order while A are unfinished, so that
/// all work is done, and of each pair a part d of the first one's work before the end of the second, and 1 - d the
/// other way round. Where d is 0 or 1 for all pairs, it is the program of end_orders. It is solved by the simplex
/// method; prices that it has on the way hold as well, once they are lowered by the same factor as far as it takes.
///
/// Arrivals divide time into periods. Until j comes, its time costs nothing here, and all work is done before its end.
/// A period has a price for each of its seconds, since it can hold no more work than that.
class pair_prices {
  public:
    pair_prices(const problem& of, const speed_table& speeds);

    /// Until the bound is the highest, or `enough`. Returns it.
    double raise(double enough);
    /// From now on, i ends before j in all orders. False: there is no such order.
    bool order(uint32_t i, uint32_t j);
    /// Two that the program puts into no order, or into one that contradicts others; the first of them more likely ends
    /// first. None: it has an order of all.
    [[nodiscard]] std::optional<std::pair<uint32_t, uint32_t>> doubtful() const;
    [[nodiscard]] uint64_t steps() const { return basis_.steps(); }

  private:
    static constexpr uint32_t most = problem::most;
    static_assert(simplex_basis::most_rows >= most * most + most);
    using matrix = std::array<problem::values, most>;

    /// Of the linear program: the members of `set` move while `alive` are unfinished.
    struct column {
        members set = 0;
        members alive = 0;
        uint32_t period = 0;
        double gain = 0;
        double cost = 0;
        std::vector<std::pair<uint32_t, double>> entries;
    };

    struct second {
        double worth = 0;
        double cost = 0;
        problem::values share{};  ///< worth more for each of the others that is unfinished
    };

    // Rows: the work of each; of each pair, work before an end; the length of each period but the last.
    [[nodiscard]] uint32_t row_of(uint32_t i, uint32_t j) const {
        return count_ + i * (count_ - 1) + j - (j > i ? 1 : 0);
    }
    [[nodiscard]] uint32_t row_of(uint32_t period) const { return count_ * count_ + period; }
    [[nodiscard]] bool is_fixed(uint32_t i, uint32_t j) const { return (after_[i] >> j & 1) != 0; }
    [[nodiscard]] double cost_of_order(uint32_t i, uint32_t j) const;

    void set_periods();
    [[nodiscard]] simplex_basis::row amounts() const;
    void begin();
    bool enter_orders();
    bool enter_known();
    void find_columns();
    [[nodiscard]] second second_of(members set, uint32_t period, const simplex_basis::row& price,
                                   const matrix& before) const;
    [[nodiscard]] double cost_in(uint32_t period, uint32_t j) const;
    column priced(members set, uint32_t period, const matrix& before) const;
    void fill(column& one, const matrix& before) const;
    [[nodiscard]] double bound() const;
    [[nodiscard]] double factor(const simplex_basis::row& price) const;
    [[nodiscard]] matrix before(const simplex_basis::row& price) const;

    const problem* of_;
    const speed_table* speeds_;
    uint32_t count_;
    uint32_t periods_ = 0;
    std::array<members, most + 1> there_{};
    std::array<double, most + 1> lasts_s_{};
    double penalty_ = 0;                 ///< of an order that is none
    std::array<members, most> after_{};  ///< [i]: those that end after it, by order()
    std::vector<column> known_;          ///< that were of use
    simplex_basis basis_;                ///< a name is 1 + the row of the pair whose d it is; else 0
};

/// That no schedule costs less than `bound`; costs count from arrivals on, as exact_search's do. Where it would be
/// below `enough`, both orders of a pair are looked at apart, and so on.
struct proof {
    double bound = 0;
    bool order_found = false;  ///< ended with an order of ends whose bound is below `enough`
    uint32_t programs = 0;
    uint64_t steps = 0;  ///< of the simplex method
};
proof prove(const problem& of, const speed_table& speeds, double enough, uint32_t most_programs);

}  // namespace halcyon::policy
