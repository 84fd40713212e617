#include "policy/end_prices.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace halcyon::policy {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}

}  // namespace

double end_prices::prepare(const problem& of, const speed_table& speeds, members unfinished,
                           const problem::values& left_s, double at_s, members late, double less) {
    of_ = &of;
    late_ = late;
    count_ = 0;
    for (members rest = unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        left_s_[count_] = left_s[i];
        number_[count_++] = i;
    }
    const uint32_t sets = 1U << count_;
    if (price_.size() < sets) {
        speed_.resize(sets);
        cost_.resize(sets);
        price_.resize(sets);
        highest_.resize(sets);
        value_.resize(sets);
        others_.resize(sets);
        least_.resize(sets);
    }
    members some = 0;
    for (uint32_t set = 0; set < sets; ++set, some = (some - unfinished) & unfinished) {
        const double* const speed = speeds.of(some);
        cost_[set] = of.cost_after_per_s;
        for (uint32_t i = 0; i < count_; ++i) {
            speed_[set][i] = speed[number_[i]];
            if ((set >> i & 1) != 0) cost_[set] += of.cost_per_s[number_[i]];
        }
    }
    highest_[0].fill(0);
    value_[0] = 0;
    for (uint32_t after = 1; after < sets; ++after)
        price(after, 1 - less * static_cast<double>(count_ - static_cast<uint32_t>(std::popcount(after))));
    return value_[sets - 1] + until_arrivals(unfinished, at_s);
}

/// As high as all sets allow that may move while i is the first of them to end. The others of such a set end in any
/// order after it, of which the dearest counts: each of them, j, at the highest price for those that can end with j or
/// after it. Then so much lower that all orders cost the same at this position, which leaves more to larger sets.
void end_prices::price(uint32_t after, double share) {
    row& prices = price_[after];
    prices.fill(infinite);
    for (uint32_t set = after; set != 0; set = (set - 1) & after) {
        const double* const speed = speed_[set].data();
        double cost_per_s = cost_[after];
        if (late_ != 0) {
            double last_arrival_s = 0;
            for (uint32_t rest = set; rest != 0; rest &= rest - 1) {
                const uint32_t i = number_[first_of(rest)];
                if ((late_ >> i & 1) != 0) last_arrival_s = std::max(last_arrival_s, of_->arrives_s[i]);
            }
            for (uint32_t rest = after; rest != 0; rest &= rest - 1) {
                const uint32_t i = number_[first_of(rest)];
                if ((late_ >> i & 1) != 0 && of_->arrives_s[i] > last_arrival_s) cost_per_s -= of_->cost_per_s[i];
            }
        }
        others_[0] = 0;
        const uint32_t apart = after & ~set;
        // Subsets in increasing order; `set` itself is the last one, and not needed.
        for (uint32_t some = (0 - set) & set; some != set; some = (some - set) & set) {
            double most = -infinite;
            const row& highest = highest_[apart | some];
            for (uint32_t rest = some; rest != 0; rest &= rest - 1) {
                const uint32_t j = first_of(rest);
                most = std::max(most, highest[j] * speed[j] + others_[some & ~(rest & ~(rest - 1))]);
            }
            others_[some] = most;
        }
        for (uint32_t rest = set; rest != 0; rest &= rest - 1) {
            const uint32_t i = first_of(rest);
            prices[i] = std::min(prices[i], (cost_per_s - others_[set & ~(rest & ~(rest - 1))]) / speed[i]);
        }
    }
    double value = infinite;
    for (uint32_t rest = after; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        value = std::min(value, value_[after & ~(rest & ~(rest - 1))] + prices[i] * left_s_[i]);
    }
    value_[after] = value *= share;
    row& highest = highest_[after];
    for (uint32_t rest = after; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        prices[i] = std::min(prices[i], (value - value_[after & ~(rest & ~(rest - 1))]) / left_s_[i]);
        double most = prices[i];
        for (uint32_t others = after & ~(1U << i); others != 0; others &= others - 1)
            most = std::max(most, highest_[after & ~(others & ~(others - 1))][i]);
        highest[i] = most;
    }
}

double end_prices::until_arrivals(members unfinished, double at_s) const {
    double cost = 0;
    for (members rest = unfinished & late_; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        cost += of_->cost_per_s[i] * std::max(of_->arrives_s[i] - at_s, 0.0);
    }
    return cost;
}

double end_prices::of(members unfinished, const problem::values& left_s, double at_s) {
    uint32_t all = 0;
    row left{};
    for (uint32_t i = 0; i < count_; ++i) {
        if ((unfinished >> number_[i] & 1) == 0) continue;
        all |= 1U << i;
        left[i] = left_s[number_[i]];
    }
    least_[0] = 0;
    for (uint32_t some = (0 - all) & all; some != 0; some = (some - all) & all) {
        const row& prices = price_[some];
        double least = infinite;
        for (uint32_t rest = some; rest != 0; rest &= rest - 1) {
            const uint32_t i = first_of(rest);
            least = std::min(least, prices[i] * left[i] + least_[some & ~(rest & ~(rest - 1))]);
        }
        least_[some] = least;
    }
    return least_[all] + until_arrivals(unfinished, at_s);
}

}  // namespace halcyon::policy
