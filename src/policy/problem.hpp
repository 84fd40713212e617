#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halcyon::policy {

/// Numbers of applications, as bits.
using members = uint32_t;

/// Applications that share storage, in numbers only, as searches see them: whom to let move when, so that the cost is
/// least. In the order of arrival, then by id.
struct problem {
    static constexpr uint32_t most = 12;
    using values = std::array<double, most>;

    uint32_t count = 0;
    values left_s{};                          ///< without others; above 0
    values cost_per_s{};                      ///< of its time until its end
    values arrives_s{};                       ///< from now; 0: present
    values demand{};                          ///< of the bandwidth, alone
    std::array<values, most> excess{};        ///< [i][j]: slow-down of i beside j - 1
    std::array<members, most> shares_with{};  ///< those that use the same storage, itself included
    double capacity = 1;                      ///< sum of demand times speed that the storage can bear
    /// [i][j]: the same as observed of i and j side by side; storage can bear as much as any pair that uses it.
    std::array<values, most> borne{};
    members moving = 0;  ///< those that move now, which ties prefer
    /// Of a second more until the end of all: those wait who come after all of these.
    double cost_after_per_s = 0;
    /// Of the first set that leaves out one of those that move now, before anybody has ended.
    double interruption_cost = 0;

    [[nodiscard]] double cost_of_first(members set) const { return (moving & ~set) != 0 ? interruption_cost : 0; }
    [[nodiscard]] members all() const { return (members{1} << count) - 1; }
    [[nodiscard]] members arrived() const;
};

/// Speeds, relative to each alone, of applications that move together: 1 over the sum of their slow-downs' excesses
/// and 1. Where those that share storage would take more than it can bear, all of them are slower by the same factor.
/// 0 for those that are not of the set. Proportional sharing where all saturate the storage.
void speeds_of(const problem& of, members set, problem::values& speed);

/// No two that move together end sooner on average than one after the other, so neither do more of them: the product of
/// the excesses of each pair is 1 at least. (With p_i the speeds, (sum p)^2 <= sum of p_i^2 (1 + sum_j excess_ij) =
/// sum p, by the means of each pair, so sum p <= 1.) Nor is anybody slow alone for want of capacity, or all are by the
/// same factor: together they move no more than one of them does alone.
bool overlap_never_gains(const problem& of);

/// The speeds of all sets of a problem.
class speed_table {
  public:
    void fill(const problem& of);
    [[nodiscard]] const double* of(members set) const { return &speed_[std::size_t{set} * problem::most]; }

  private:
    std::vector<double> speed_;
    std::vector<double> slow_down_;
    std::vector<double> capacity_;  ///< by set
};

}  // namespace halcyon::policy
