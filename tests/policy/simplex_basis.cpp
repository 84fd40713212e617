#include "policy/simplex_basis.hpp"

#include <algorithm>
#include <limits>

namespace halcyon::policy {

namespace {

/// Of amounts: smaller ones are rounding.
constexpr double tiny = 1e-9;
/// What is smaller is no pivot.
constexpr double least_pivot = 1e-7;

}  // namespace

void simplex_basis::begin(uint32_t rows, const row& amounts) {
    *this = {};
    rows_ = rows;
    amount_ = amounts;
    inverse_.assign(rows, row{});
    for (uint32_t r = 0; r < rows; ++r) inverse_[r][r] = 1;
}

void simplex_basis::replace(uint32_t leaves, entries column, double cost, uint32_t name) {
    pivot(leaves, change(column), gained(column, cost));
    cost_[leaves] = cost;
    name_[leaves] = name;
}

bool simplex_basis::enter(entries column, double cost, uint32_t name) {
    const double reduced = gained(column, cost);
    if (reduced >= 0) return false;
    const row changed = change(column);
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t a = 0; a < rows_; ++a)
        if (changed[a] > least_pivot) least = std::min(least, (std::max(amount_[a], 0.0) + tiny) / changed[a]);
    uint32_t leaves = rows_;
    for (uint32_t a = 0; a < rows_; ++a) {
        if (changed[a] <= least_pivot || std::max(amount_[a], 0.0) > least * changed[a]) continue;
        if (leaves == rows_ || changed[a] > changed[leaves]) leaves = a;
    }
    if (leaves == rows_) return false;
    pivot(leaves, changed, reduced);
    cost_[leaves] = cost;
    name_[leaves] = name;
    return true;
}

void simplex_basis::charge(uint32_t which, double cost) {
    for (uint32_t b = 0; b < rows_; ++b) price_[b] += (cost - cost_[which]) * inverse_[which][b];
    cost_[which] = cost;
}

/// Below 0: so much less of all cost for each x of it.
double simplex_basis::gained(entries column, double cost) const {
    double reduced = cost;
    for (const auto& [r, entry] : column) reduced -= price_[r] * entry;
    return reduced;
}

simplex_basis::row simplex_basis::change(entries column) const {
    row changed{};
    for (uint32_t a = 0; a < rows_; ++a)
        for (const auto& [r, entry] : column) changed[a] += inverse_[a][r] * entry;
    return changed;
}

void simplex_basis::pivot(uint32_t leaves, const row& change, double reduced) {
    ++steps_;
    row& its = inverse_[leaves];
    const double by = 1 / change[leaves];
    for (uint32_t b = 0; b < rows_; ++b) its[b] *= by;
    amount_[leaves] *= by;
    for (uint32_t a = 0; a < rows_; ++a) {
        if (a == leaves || change[a] == 0) continue;
        row& other = inverse_[a];
        for (uint32_t b = 0; b < rows_; ++b) other[b] -= change[a] * its[b];
        amount_[a] -= change[a] * amount_[leaves];
    }
    for (uint32_t b = 0; b < rows_; ++b) price_[b] += reduced * its[b];
}

}  // namespace halcyon::policy
