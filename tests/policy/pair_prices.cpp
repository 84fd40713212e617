#include "policy/pair_prices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halcyon::policy {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Of costs: smaller gains are rounding.
constexpr double negligible = 1e-9;
/// Part of a phase by which rows differ from what they stand for, so that few steps of the simplex method lead nowhere.
constexpr double disturbed = 1e-5;
/// Of a bound: lost to rounding.
constexpr double lost = 1e-11;

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}
constexpr members only(uint32_t i) {
    return members{1} << i;
}

std::array<std::pair<uint32_t, double>, 1> entry(uint32_t row, double of) {
    return {{{row, of}}};
}
/// That the first of a pair ends before the second.
std::array<std::pair<uint32_t, double>, 2> ordered(uint32_t early, uint32_t late) {
    return {{{early, -1}, {late, 1}}};
}

}  // namespace

pair_prices::pair_prices(const problem& of, const speed_table& speeds) : of_(&of), speeds_(&speeds), count_(of.count) {
    set_periods();
    double longest_s = 0;
    double cost_per_s = of.cost_after_per_s;
    for (uint32_t i = 0; i < count_; ++i) {
        longest_s += of.left_s[i] / speeds.of(only(i))[i];
        cost_per_s += of.cost_per_s[i];
    }
    penalty_ = longest_s * cost_per_s;
    begin();
}

void pair_prices::set_periods() {
    double from_s = 0;
    for (;;) {
        double next_s = infinite;
        members there = 0;
        for (uint32_t i = 0; i < count_; ++i) {
            if (of_->arrives_s[i] <= from_s)
                there |= only(i);
            else
                next_s = std::min(next_s, of_->arrives_s[i]);
        }
        there_[periods_] = there;
        lasts_s_[periods_++] = next_s - from_s;
        if (next_s == infinite) return;
        from_s = next_s;
    }
}

/// Work of each, 1, and amounts of pairs that belong to one order of all.
simplex_basis::row pair_prices::amounts() const {
    simplex_basis::row made{};
    uint32_t random = 1;
    const auto some = [&] {
        random = random * 1664525U + 1013904223U;
        return disturbed * (0.5 + random * 0x1p-33);
    };
    for (uint32_t i = 0; i < count_; ++i) {
        made[i] = 1;
        for (uint32_t j = 0; j < count_; ++j)
            if (i != j) made[row_of(i, j)] = (i < j ? 0 : 1) - some();
    }
    for (uint32_t p = 0; p + 1 < periods_; ++p) made[row_of(p)] = lasts_s_[p];
    return made;
}

/// One after the other, once all are there.
void pair_prices::begin() {
    basis_.begin(row_of(periods_ - 1), amounts());
    std::array<uint32_t, most> order{};
    for (uint32_t i = 0; i < count_; ++i) order[i] = i;
    const auto worth = [&](uint32_t i) { return of_->cost_per_s[i] / (of_->demand[i] * of_->left_s[i]); };
    std::sort(order.begin(), order.begin() + count_,
              [&](uint32_t i, uint32_t j) { return worth(i) > worth(j) || (worth(i) == worth(j) && i < j); });
    members alive = of_->all();
    for (uint32_t k = 0; k < count_; ++k) {
        const uint32_t i = order[k];
        column one;
        one.set = only(i);
        one.alive = alive;
        one.period = periods_ - 1;
        fill(one, matrix{});
        basis_.replace(i, one.entries, one.cost, 0);
        alive &= ~only(i);
        for (members rest = alive; rest != 0; rest &= rest - 1) {
            const uint32_t j = first_of(rest);
            const uint32_t early = row_of(i, j), late = row_of(j, i);
            if (i < j)
                basis_.replace(late, ordered(early, late), 0, 1 + early);
            else
                basis_.replace(late, entry(late, -1), 0, 0);
            basis_.replace(early, entry(early, -1), 0, 0);
        }
    }
}

double pair_prices::raise(double enough) {
    double best = -infinite;
    for (uint32_t round = 1;; ++round) {
        bool any = enter_orders();
        if (!enter_known()) {
            find_columns();
            if (round % 4 == 0 || known_.empty()) {
                best = std::max(best, bound());
                if (best >= enough) return best;
            }
            if (enter_known()) any = true;
        } else {
            any = true;
        }
        if (!any || round > 5000) return std::max(best, bound());
    }
}

/// What d of the pair costs, i < j.
double pair_prices::cost_of_order(uint32_t i, uint32_t j) const {
    return is_fixed(i, j) ? -penalty_ : is_fixed(j, i) ? penalty_ : 0;
}

/// Those columns of which there are few.
bool pair_prices::enter_orders() {
    const simplex_basis::row& price = basis_.prices();
    bool any = false;
    for (uint32_t i = 0; i < count_; ++i) {
        for (uint32_t j = 0; j < count_; ++j) {
            if (i == j) continue;
            const uint32_t early = row_of(i, j), late = row_of(j, i);
            if (price[early] < -negligible) any = basis_.enter(entry(early, -1), 0, 0) || any;
            if (i > j) continue;
            const double cost = cost_of_order(i, j);
            if (price[late] - price[early] - cost > negligible)
                any = basis_.enter(ordered(early, late), cost, 1 + early) || any;
        }
    }
    for (uint32_t p = 0; p + 1 < periods_; ++p)
        if (price[row_of(p)] > negligible) any = basis_.enter(entry(row_of(p), 1), 0, 0) || any;
    return any;
}

/// Of those found, one after the other, the one that gains the most.
bool pair_prices::enter_known() {
    constexpr uint32_t at_once = 20;
    bool any = false;
    for (uint32_t k = 0; k < at_once; ++k) {
        double most_gain = 0;
        column* best = nullptr;
        for (column& one : known_) {
            double gain = -one.cost;
            double norm = 0;
            for (const auto& [r, entry] : one.entries) {
                gain += entry * basis_.prices()[r];
                norm += entry * entry;
            }
            if (gain <= negligible * one.cost || gain * gain <= most_gain * norm) continue;
            most_gain = gain * gain / norm;
            best = &one;
        }
        if (best == nullptr) {
            known_.clear();
            return any;
        }
        any = basis_.enter(best->entries, best->cost, 0) || any;
        *best = std::move(known_.back());
        known_.pop_back();
    }
    return any;
}

pair_prices::matrix pair_prices::before(const simplex_basis::row& price) const {
    matrix found{};
    for (uint32_t i = 0; i < count_; ++i)
        for (uint32_t j = 0; j < count_; ++j)
            if (i != j) found[i][j] = price[row_of(i, j)];
    return found;
}

/// What a second in which `set` moves is worth at these prices, and what it costs, before anybody else is unfinished.
pair_prices::second pair_prices::second_of(members set, uint32_t period, const simplex_basis::row& price,
                                           const matrix& before) const {
    second found{period + 1 < periods_ ? price[row_of(period)] : 0, of_->cost_after_per_s, {}};
    const double* const speed = speeds_->of(set);
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        const double part = speed[i] / of_->left_s[i];
        found.worth += part * price[i];
        found.cost += of_->cost_per_s[i];
        for (uint32_t j = 0; j < most; ++j) found.share[j] += part * before[i][j];
        for (members others = rest & (rest - 1); others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            found.worth += std::max(part * before[i][j], speed[j] / of_->left_s[j] * before[j][i]);
        }
    }
    return found;
}

double pair_prices::cost_in(uint32_t period, uint32_t j) const {
    return (there_[period] >> j & 1) != 0 ? of_->cost_per_s[j] : 0;
}

/// That with the most worth of those in which `set` moves. Without entries.
pair_prices::column pair_prices::priced(members set, uint32_t period, const matrix& before) const {
    const second own = second_of(set, period, basis_.prices(), before);
    column found{.set = set, .alive = set, .period = period, .gain = own.worth, .cost = own.cost, .entries = {}};
    for (members rest = of_->all() & ~set; rest != 0; rest &= rest - 1) {
        const uint32_t j = first_of(rest);
        if (own.share[j] <= cost_in(period, j)) continue;
        found.alive |= only(j);
        found.gain += own.share[j];
        found.cost += cost_in(period, j);
    }
    found.gain -= found.cost;
    return found;
}

void pair_prices::fill(column& one, const matrix& before) const {
    const double* const speed = speeds_->of(one.set);
    one.cost = of_->cost_after_per_s;
    for (members rest = one.alive & there_[one.period]; rest != 0; rest &= rest - 1)
        one.cost += of_->cost_per_s[first_of(rest)];
    for (members rest = one.set; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        const double part = speed[i] / of_->left_s[i];
        one.entries.emplace_back(i, part);
        for (members others = one.alive & ~only(i); others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            if ((one.set >> j & 1) != 0) {
                const double mine = part * before[i][j], its = speed[j] / of_->left_s[j] * before[j][i];
                if (mine < its || (mine == its && i > j)) continue;
            }
            one.entries.emplace_back(row_of(i, j), part);
        }
    }
    if (one.period + 1 < periods_) one.entries.emplace_back(row_of(one.period), 1);
}

void pair_prices::find_columns() {
    constexpr size_t at_most = 200;
    known_.clear();
    const matrix priced_before = before(basis_.prices());
    for (uint32_t p = 0; p < periods_; ++p) {
        for (members set = there_[p]; set != 0; set = (set - 1) & there_[p]) {
            column one = priced(set, p, priced_before);
            if (one.gain <= negligible * one.cost) continue;
            // By the size of its entries, about.
            double norm = 0;
            for (members rest = set; rest != 0; rest &= rest - 1) {
                const double part = speeds_->of(set)[first_of(rest)] / of_->left_s[first_of(rest)];
                norm += part * part;
            }
            one.gain /= std::sqrt(norm * std::popcount(one.alive));
            known_.push_back(std::move(one));
        }
    }
    if (known_.size() > at_most) {
        std::ranges::nth_element(known_, known_.begin() + at_most, std::ranges::greater(), &column::gain);
        known_.resize(at_most);
    }
    for (column& one : known_) fill(one, priced_before);
}

/// By which prices have to be multiplied so that they hold; they are as high as to need it only on the way.
double pair_prices::factor(const simplex_basis::row& price) const {
    const matrix its = before(price);
    double found = 1;
    for (uint32_t p = 0; p < periods_; ++p) {
        for (members set = there_[p]; set != 0; set = (set - 1) & there_[p]) {
            const second own = second_of(set, p, price, its);
            // Of lower prices, others may be the dearest.
            for (;;) {
                double worth = own.worth, cost = own.cost;
                for (members rest = of_->all() & ~set; rest != 0; rest &= rest - 1) {
                    const uint32_t j = first_of(rest);
                    if (found * own.share[j] <= cost_in(p, j)) continue;
                    worth += own.share[j];
                    cost += cost_in(p, j);
                }
                if (found * worth <= cost * (1 + 1e-13)) break;
                found = cost / worth;
            }
        }
    }
    return found;
}

/// Of the prices at hand, made to hold.
double pair_prices::bound() const {
    simplex_basis::row held = basis_.prices();
    for (uint32_t r = count_; r < basis_.rows(); ++r)
        held[r] = r < row_of(0) ? std::max(held[r], 0.0) : std::min(held[r], 0.0);
    double sum = 0;
    for (uint32_t i = 0; i < count_; ++i) {
        sum += held[i];
        for (uint32_t j = 0; j < i; ++j) {
            const double mine = held[row_of(i, j)], its = held[row_of(j, i)];
            sum += is_fixed(i, j) ? mine : is_fixed(j, i) ? its : std::min(mine, its);
        }
    }
    for (uint32_t p = 0; p + 1 < periods_; ++p) sum += held[row_of(p)] * lasts_s_[p];
    return factor(held) * sum * (1 - lost);
}

bool pair_prices::order(uint32_t i, uint32_t j) {
    if (is_fixed(j, i)) return false;
    const members later = after_[j] | only(j);
    for (uint32_t k = 0; k < count_; ++k)
        if (k == i || is_fixed(k, i)) after_[k] |= later;
    for (uint32_t r = 0; r < basis_.rows(); ++r) {
        if (basis_.name(r) == 0) continue;
        for (uint32_t a = 0; a < count_; ++a)
            for (uint32_t b = a + 1; b < count_; ++b)
                if (row_of(a, b) + 1 == basis_.name(r) && basis_.cost(r) != cost_of_order(a, b))
                    basis_.charge(r, cost_of_order(a, b));
    }
    return true;
}

std::optional<std::pair<uint32_t, uint32_t>> pair_prices::doubtful() const {
    constexpr double doubt = 1e-3;
    std::optional<std::pair<uint32_t, uint32_t>> found;
    matrix part{};
    for (uint32_t r = 0; r < basis_.rows(); ++r) {
        for (uint32_t i = 0; basis_.name(r) != 0 && i < count_; ++i)
            for (uint32_t j = i + 1; j < count_; ++j)
                if (row_of(i, j) + 1 == basis_.name(r)) part[i][j] = basis_.amount(r);
    }
    double most_worth = 0;
    std::array<members, most> later{};
    for (uint32_t i = 0; i < count_; ++i) {
        for (uint32_t j = i + 1; j < count_; ++j) {
            const bool first = is_fixed(i, j) || (!is_fixed(j, i) && part[i][j] >= 0.5);
            later[first ? i : j] |= only(first ? j : i);
            if (is_fixed(i, j) || is_fixed(j, i)) continue;
            const double open = std::min(part[i][j], 1 - part[i][j]);
            const double worth =
                open * (std::max(basis_.prices()[row_of(i, j)], basis_.prices()[row_of(j, i)]) + 1e-6 * penalty_);
            if (open <= doubt || worth <= most_worth) continue;
            most_worth = worth;
            found = first ? std::pair(i, j) : std::pair(j, i);
        }
    }
    if (found) return found;
    for (uint32_t i = 0; i < count_; ++i) {
        for (members rest = later[i]; rest != 0; rest &= rest - 1) {
            const uint32_t j = first_of(rest);
            // Someone is after j, but before i.
            if ((later[j] & ~later[i]) != 0 && !is_fixed(i, j)) return std::pair(i, j);
        }
    }
    return found;
}

proof prove(const problem& of, const speed_table& speeds, double enough, uint32_t most_programs) {
    struct node {
        pair_prices prices;
        double bound;  ///< of what it is a part of
    };
    proof found;
    found.bound = infinite;
    std::vector<node> open;
    open.push_back({pair_prices(of, speeds), -infinite});
    while (!open.empty()) {
        node some = std::move(open.back());
        open.pop_back();
        const uint64_t before = some.prices.steps();
        some.bound = std::max(some.bound, some.prices.raise(enough));
        found.steps += some.prices.steps() - before;
        ++found.programs;
        const auto pair = some.bound < enough ? some.prices.doubtful() : std::nullopt;
        if (some.bound >= enough || !pair || found.programs >= most_programs) {
            found.bound = std::min(found.bound, some.bound);
            if (some.bound >= enough) continue;
            found.order_found = !pair;
            for (const node& one : open) found.bound = std::min(found.bound, one.bound);
            return found;
        }
        node other = some;
        if (other.prices.order(pair->second, pair->first)) open.push_back(std::move(other));
        if (some.prices.order(pair->first, pair->second)) open.push_back(std::move(some));
    }
    return found;
}

}  // namespace halcyon::policy
