#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace halcyon::policy {

/// The basis of a linear program in the revised simplex method: the least sum of cost x, so that the columns of the
/// program, each times its x >= 0, add up to the amounts of its rows. It keeps the inverse of the columns in it, what
/// they hold, and the prices of rows. The columns are the caller's.
class simplex_basis {
  public:
    static constexpr uint32_t most_rows = 156;
    using row = std::array<double, most_rows>;
    /// Of a column: its row, and what it holds of that.
    using entries = std::span<const std::pair<uint32_t, double>>;

    /// Of so many rows; in each a column of that row alone, which costs nothing. The amounts are those of the rows.
    void begin(uint32_t rows, const row& amounts);
    /// In place of the column in `leaves`. `name`: whatever the caller wants to know it by.
    void replace(uint32_t leaves, entries column, double cost, uint32_t name);
    /// In place of the one that is used up first. False: it gains nothing, or none is.
    bool enter(entries column, double cost, uint32_t name);
    /// The column in this row of the basis costs so much from now on.
    void charge(uint32_t which, double cost);

    [[nodiscard]] uint32_t rows() const { return rows_; }
    [[nodiscard]] const row& prices() const { return price_; }
    [[nodiscard]] double amount(uint32_t which) const { return amount_[which]; }
    [[nodiscard]] double cost(uint32_t which) const { return cost_[which]; }
    /// 0 for those of begin().
    [[nodiscard]] uint32_t name(uint32_t which) const { return name_[which]; }
    [[nodiscard]] uint64_t steps() const { return steps_; }

  private:
    [[nodiscard]] double gained(entries column, double cost) const;
    [[nodiscard]] row change(entries column) const;
    void pivot(uint32_t leaves, const row& change, double reduced);

    uint32_t rows_ = 0;
    std::vector<row> inverse_;
    row amount_{};
    row cost_{};
    row price_{};
    std::array<uint32_t, most_rows> name_{};
    uint64_t steps_ = 0;
};

}  // namespace halcyon::policy
