#include "policy/quick_bounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace halcyon::policy {

namespace {

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}

}  // namespace

void quick_bounds::prepare(const problem& of, const speed_table& speeds) {
    of_ = &of;
    speeds_ = &speeds;
    last_arrival_s_ = 0;
    for (uint32_t i = 0; i < of.count; ++i) last_arrival_s_ = std::max(last_arrival_s_, of.arrives_s[i]);
    tighten_rates();
    weigh_pairs();
}

/// Starts with the demands, as far as all sets can bear them, and raises one rate after the other.
void quick_bounds::tighten_rates() {
    const members all = of_->all();
    taken_.assign(size_t{all} + 1, 0);
    double most = 0;
    for (members set = 1; set <= all; ++set) {
        const double* const speed = speeds_->of(set);
        for (uint32_t i = 0; i < of_->count; ++i) taken_[set] += of_->demand[i] * speed[i];
        most = std::max(most, taken_[set]);
    }
    for (members set = 1; set <= all; ++set) taken_[set] /= most;
    for (uint32_t i = 0; i < of_->count; ++i) {
        const members bit = members{1} << i;
        double more = std::numeric_limits<double>::infinity();
        for (members set = bit; set <= all; set = (set + 1) | bit)
            more = std::min(more, (1 - taken_[set]) / std::max(speeds_->of(set)[i], 1e-300));
        more = std::max(more, 0.0);
        rate_[i] = of_->demand[i] / most + more;
        for (members set = bit; set <= all; set = (set + 1) | bit) taken_[set] += more * speeds_->of(set)[i];
    }
}

void quick_bounds::weigh_pairs() {
    const members all = of_->all();
    // [i][j]: the least that j moves while i moves one, in all sets with both.
    std::array<problem::values, problem::most> least;
    for (problem::values& row : least) row.fill(std::numeric_limits<double>::infinity());
    for (members set = 1; set <= all; ++set) {
        const double* const speed = speeds_->of(set);
        for (members rest = set; rest != 0; rest &= rest - 1) {
            const uint32_t i = first_of(rest);
            const double slow_down = 1 / speed[i];
            for (members others = set; others != 0; others &= others - 1) {
                const uint32_t j = first_of(others);
                least[i][j] = std::min(least[i][j], speed[j] * slow_down);
            }
        }
    }
    for (uint32_t i = 0; i < of_->count; ++i) {
        for (uint32_t j = 0; j < of_->count; ++j) {
            const double waiting = of_->cost_per_s[j] * rate_[i];
            const double together =
                of_->cost_per_s[i] * of_->excess[i][j] + of_->cost_per_s[j] * of_->excess[j][i] * least[i][j];
            beside_[i][j] = beside_to_[j][i] = std::min(waiting, together);
        }
    }
}

double quick_bounds::by_pairs(const position& at) const {
    return at.at_s < last_arrival_s_ ? pairs_with_arrivals(at) : pairs_of_present(at);
}

double quick_bounds::pairs_of_present(const position& at) const {
    std::array<uint8_t, problem::most> index;
    uint32_t count = 0;
    double cost = at.cost;
    double longest_s = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        index[count++] = static_cast<uint8_t>(i);
        cost += of_->cost_per_s[i] * at.left_s[i];
        longest_s = std::max(longest_s, at.left_s[i]);
    }
    for (uint32_t k = 1; k < count; ++k) {
        const uint8_t j = index[k];
        const double left_s = at.left_s[j];
        const problem::values& its = beside_[j];
        const problem::values& to_it = beside_to_[j];
        double sum = 0;
        for (uint32_t m = 0; m < k; ++m) {
            const uint8_t i = index[m];
            sum += std::min(to_it[i] * at.left_s[i], its[i] * left_s);
        }
        cost += sum;
    }
    return cost + of_->cost_after_per_s * longest_s;
}

double quick_bounds::pairs_with_arrivals(const position& at) const {
    double cost = at.cost;
    double longest_s = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        const double begin_s = std::max(of_->arrives_s[i] - at.at_s, 0.0);
        cost += of_->cost_per_s[i] * (begin_s + at.left_s[i]);
        longest_s = std::max(longest_s, begin_s + at.left_s[i]);
        for (members others = rest & (rest - 1); others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            const double later_s = std::max(of_->arrives_s[j] - at.at_s, 0.0) - begin_s;
            // Before the later one arrives, the earlier one costs it nothing.
            const double mine = later_s > 0 ? std::max(at.left_s[i] - later_s, 0.0) : at.left_s[i];
            const double its = later_s < 0 ? std::max(at.left_s[j] + later_s, 0.0) : at.left_s[j];
            cost += std::min(beside_[i][j] * mine, beside_[j][i] * its);
        }
    }
    return cost + of_->cost_after_per_s * longest_s;
}

double quick_bounds::pair_costs(const position& at, std::array<problem::values, problem::most>& waits) const {
    double cost = at.cost;
    double longest_s = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        const double begin_s = std::max(of_->arrives_s[i] - at.at_s, 0.0);
        cost += of_->cost_per_s[i] * (begin_s + at.left_s[i]);
        longest_s = std::max(longest_s, begin_s + at.left_s[i]);
        for (members others = at.unfinished & ~(members{1} << i); others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            const double later_s = std::max(of_->arrives_s[j] - at.at_s, 0.0) - begin_s;
            waits[i][j] = beside_[i][j] * (later_s > 0 ? std::max(at.left_s[i] - later_s, 0.0) : at.left_s[i]);
        }
    }
    return cost + of_->cost_after_per_s * longest_s;
}

void quick_bounds::order_by_smith(position& at) const {
    uint32_t count = 0;
    problem::values busy_s;  // of those in order so far
    for (uint32_t k = 0; k < at.ordered; ++k) {
        const uint8_t i = at.order[k];
        if ((at.unfinished >> i & 1) == 0) continue;
        uint32_t place = count++;
        // cost_i / busy_i > cost_j / busy_j, without divisions.
        const double cost = of_->cost_per_s[i], its = rate_[i] * at.left_s[i];
        for (; place > 0; --place) {
            const uint8_t j = at.order[place - 1];
            if (cost * busy_s[place - 1] <= of_->cost_per_s[j] * its) break;
            at.order[place] = j;
            busy_s[place] = busy_s[place - 1];
        }
        at.order[place] = i;
        busy_s[place] = its;
    }
    at.ordered = count;
}

double quick_bounds::with_arrivals(const position& at) const {
    const uint32_t count = at.ordered;
    problem::values left{};
    problem::values busy{};  // integral of time over its processing
    double alone = 0;
    double earliest = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint8_t i = at.order[k];
        left[i] = rate_[i] * at.left_s[i];
        const double begin_s = std::max(of_->arrives_s[i], at.at_s);
        earliest = std::max(earliest, begin_s + at.left_s[i]);
        alone += of_->cost_per_s[i] * (begin_s + at.left_s[i]);
    }
    double now_s = at.at_s;
    for (members open = at.unfinished; open != 0;) {
        int32_t chosen = -1;
        double next_s = std::numeric_limits<double>::infinity();
        for (uint32_t k = 0; k < count; ++k) {
            const uint8_t i = at.order[k];
            if ((open >> i & 1) == 0) continue;
            if (of_->arrives_s[i] > now_s)
                next_s = std::min(next_s, of_->arrives_s[i]);
            else if (chosen < 0)
                chosen = i;
        }
        if (chosen < 0) {
            now_s = next_s;
            continue;
        }
        const double until_s = std::min(next_s, now_s + left[chosen]);
        busy[chosen] += (until_s - now_s) * (until_s + now_s) / 2;
        if (now_s + left[chosen] <= next_s) {
            left[chosen] = 0;
            open &= ~(members{1} << chosen);
        } else {
            left[chosen] -= until_s - now_s;
        }
        now_s = until_s;
    }
    double machine = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint8_t i = at.order[k];
        machine += of_->cost_per_s[i] * (busy[i] / (rate_[i] * at.left_s[i]) + at.left_s[i] / 2);
    }
    const double after = of_->cost_after_per_s * (std::max(now_s, earliest) - at.at_s);
    double until_now = 0;
    for (uint32_t k = 0; k < count; ++k) until_now += of_->cost_per_s[at.order[k]] * at.at_s;
    return at.cost + std::max(machine, alone) - until_now + after;
}

double quick_bounds::by_machine(position& at) const {
    order_by_smith(at);
    const uint32_t count = at.ordered;
    double before_s = 0;
    double machine = 0;
    double alone = 0;
    double longest_s = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint8_t i = at.order[k];
        if (of_->arrives_s[i] > at.at_s) return with_arrivals(at);
        const double busy_s = rate_[i] * at.left_s[i];
        machine += of_->cost_per_s[i] * (before_s + (busy_s + at.left_s[i]) / 2);
        alone += of_->cost_per_s[i] * at.left_s[i];
        before_s += busy_s;
        longest_s = std::max(longest_s, at.left_s[i]);
    }
    return at.cost + std::max(machine, alone) + of_->cost_after_per_s * std::max(before_s, longest_s);
}

}  // namespace halcyon::policy
