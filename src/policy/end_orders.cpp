#include "policy/end_orders.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halcyon::policy {

namespace {

/// Relative; a solution of the linear program may be wrong by so much, and its prices are lowered by twice as much.
constexpr double tiny = 1e-10;
/// Prices are kept as high as to be of use for positions that cost that much less.
constexpr double spare = 1.01;
/// Orders looked at for one position, their beginnings included: a bound of its time.
constexpr uint32_t most_steps = 20'000;

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}

}  // namespace

void end_orders::start(const problem& of, const speed_table& speeds, const quick_bounds& quick) {
    of_ = &of;
    speeds_ = &speeds;
    quick_ = &quick;
    ++round_;
    const size_t places = (of.count + size_t{1}) << of.count;
    if (pools_.size() < places) pools_.resize(places);
}

end_orders::pool& end_orders::prepare(const position& at, members late) {
    // Who is late is known by the time, so by how many there are.
    pool& of = pools_[(static_cast<size_t>(std::popcount(late)) << of_->count) + at.unfinished];
    if (of.round == round_ && of.late == late) return of;
    of.round = round_;
    of.late = late;
    of.count = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1) of.number[of.count++] = first_of(rest);
    const uint32_t sets = 1U << of.count;
    of.speed.assign(sets, {});
    of.cost.assign(sets, of_->cost_after_per_s);
    of.known.clear();
    of.fits.assign(size_t{sets} * most, bits{});
    of.fits_all.assign(sets, bits{});
    members set = 0;
    for (uint32_t k = 0; k < sets; ++k, set = (set - at.unfinished) & at.unfinished) {
        for (uint32_t i = 0; i < of.count; ++i) {
            of.speed[k][i] = speeds_->of(set)[of.number[i]];
            if ((k >> i & 1) != 0) of.cost[k] += of_->cost_per_s[of.number[i]];
        }
    }
    return of;
}

/// The last one has no end.
void end_orders::set_periods(const position& at, pool& of) {
    double from_s = at.at_s;
    of.periods = 0;
    for (;;) {
        members there = 0;
        double next_s = std::numeric_limits<double>::infinity();
        for (uint32_t i = 0; i < of.count; ++i) {
            const double arrives_s = of_->arrives_s[of.number[i]];
            if (arrives_s <= from_s || of.periods + 1 == most_periods)
                there |= members{1} << i;
            else
                next_s = std::min(next_s, arrives_s);
        }
        of.there[of.periods] = there;
        lasts_s_[of.periods++] = next_s - from_s;
        if (!std::isfinite(next_s)) return;
        from_s = next_s;
    }
}

bool end_orders::none_costs_less(const position& at, double than, uint32_t most_solved) {
    members late = 0;
    for (members rest = at.unfinished; rest != 0; rest &= rest - 1)
        if (of_->arrives_s[first_of(rest)] > at.at_s) late |= rest & ~(rest - 1);
    pool& of = prepare(at, late);
    if (of.known.size() >= most_prices / 2) {
        // Room for new ones.
        of.round = 0;
        prepare(at, late);
    }
    set_periods(at, of);
    than_ = than - at.cost;
    steps_ = 0;
    solved_ = 0;
    most_solved_ = most_solved;
    std::array<problem::values, problem::most> waits;
    double above = quick_->pair_costs(at, waits) - at.cost;
    for (uint32_t i = 0; i < of.count; ++i) {
        left_s_[i] = at.left_s[of.number[i]];
        by_smith_[i] = i;
        for (uint32_t j = 0; j < of.count; ++j) waits_[i][j] = waits[of.number[i]][of.number[j]];
        for (uint32_t j = 0; j < i; ++j) above += std::min(waits_[i][j], waits_[j][i]);
    }
    const auto worth = [&](uint32_t i) {
        const uint32_t number = of.number[i];
        return of_->cost_per_s[number] / (of_->demand[number] * left_s_[i]);
    };
    std::sort(by_smith_.begin(), by_smith_.begin() + of.count,
              [&](uint32_t i, uint32_t j) { return worth(i) > worth(j) || (worth(i) == worth(j) && i < j); });
    bits fitting{};
    for (size_t k = 0; k < of.known.size(); ++k)
        if (bound(of, of.known[k]) >= than_) fitting[k / 64] |= uint64_t{1} << k % 64;
    return look_at_orders(of, (members{1} << of.count) - 1, fitting, 0, above);
}

/// Of the orders that begin with the first `depth` of order_. `fitting`: those of the prices whose bound is high enough
/// that fit this beginning. `above`: a bound by pairs.
bool end_orders::look_at_orders(pool& of, members rest, const bits& fitting, uint32_t depth, double above) {
    if (above >= than_ || rest == 0) return true;
    if (++steps_ > most_steps) return false;
    const auto any = [](const bits& some, const bits& others) {
        uint64_t both = 0;
        for (size_t w = 0; w < some.size(); ++w) both |= some[w] & others[w];
        return both != 0;
    };
    bits now = fitting;
    size_t seen = of.known.size();
    if (any(now, of.fits_all[rest])) return true;
    for (uint32_t k = 0; k < of.count; ++k) {
        const uint32_t f = by_smith_[k];
        if ((rest >> f & 1) == 0) continue;
        double more = above;
        for (members others = rest & ~(members{1} << f); others != 0; others &= others - 1) {
            const uint32_t j = first_of(others);
            more += waits_[f][j] - std::min(waits_[f][j], waits_[j][f]);
        }
        if (more >= than_) continue;
        order_[depth] = f;
        after_[depth] = rest;
        if (!any(now, of.fits[rest * most + f])) {
            // Any order that goes on like this.
            uint32_t place = depth + 1;
            members left = rest & ~(members{1} << f);
            for (uint32_t l = 0; l < of.count; ++l) {
                const uint32_t next = by_smith_[l];
                if ((left >> next & 1) == 0) continue;
                order_[place] = next;
                after_[place++] = left;
                left &= ~(members{1} << next);
            }
            if (!add_prices(of)) return false;
            const size_t added = of.known.size() - 1;
            now[added / 64] |= uint64_t{1} << added % 64;
        }
        bits then = now;
        for (size_t w = 0; w < then.size(); ++w) then[w] &= of.fits[rest * most + f][w];
        if (!look_at_orders(of, rest & ~(members{1} << f), then, depth + 1, more)) return false;
        // Prices that were added on the way may fit this beginning, too.
        for (; seen < of.known.size(); ++seen) {
            bool fit = true;
            for (uint32_t d = 0; d < depth && fit; ++d)
                fit = (of.fits[after_[d] * most + order_[d]][seen / 64] >> seen % 64 & 1) != 0;
            if (fit) now[seen / 64] |= uint64_t{1} << seen % 64;
        }
        if (any(now, of.fits_all[rest])) return true;
    }
    return true;
}

double end_orders::bound(const pool& of, const prices& some) const {
    double sum = 0;
    for (uint32_t i = 0; i < of.count; ++i) sum += some.of_work[i] * left_s_[i];
    for (uint32_t p = 0; p + 1 < of.periods; ++p) sum += some.of_time[p] * lasts_s_[p];
    return sum;
}

/// Of order_. False: it may be less than than_.
bool end_orders::add_prices(pool& of) {
    if (of.known.size() == most_prices || ++solved_ > most_solved_) return false;
    prices found;
    if (!solve(of, found)) return false;
    const double its = bound(of, found);
    if (its < than_) return false;
    const double lower = std::min(1.0, than_ * spare / its);
    if (lower > 0 && its > 0) {
        for (double& one : found.of_work) one *= lower;
        for (double& one : found.of_time) one *= lower;
    }
    keep(of, found);
    const size_t added = of.known.size() - 1;
    for (uint32_t d = 0; d < of.count; ++d)
        if ((of.fits[after_[d] * most + order_[d]][added / 64] >> added % 64 & 1) == 0) return false;
    return true;
}

/// Finds out which orders they fit.
void end_orders::keep(pool& of, const prices& some) {
    const size_t word = of.known.size() / 64;
    const uint64_t bit = uint64_t{1} << of.known.size() % 64;
    of.known.push_back(some);
    const members sets = members{1} << of.count;
    need_.resize(sets);
    dearest_.resize(size_t{sets} * most);
    of.fits_all[0][word] |= bit;
    for (members set = 1; set < sets; ++set) {
        double need = 0;
        for (uint32_t i = 0; i < of.count; ++i) need += some.of_work[i] * of.speed[set][i];
        for (members rest = set; rest != 0; rest &= rest - 1) {
            const uint32_t f = first_of(rest);
            double most_of = need;
            for (members others = set & ~(members{1} << f); others != 0; others &= others - 1)
                most_of = std::max(most_of, dearest_[(set & ~(others & ~(others - 1))) * most + f]);
            dearest_[set * most + f] = most_of;
        }
        bool all = true;
        for (members rest = set; rest != 0; rest &= rest - 1) {
            const uint32_t f = first_of(rest);
            bool fit = true;
            for (uint32_t p = 0; p < of.periods && fit; ++p) {
                if ((of.there[p] >> f & 1) == 0) continue;
                const double price = p + 1 < of.periods ? some.of_time[p] : 0;
                const members unfinished = set | ((sets - 1) & ~of.there[p]);
                fit = dearest_[(set & of.there[p]) * most + f] + price <= of.cost[unfinished];
            }
            if (fit) of.fits[set * most + f][word] |= bit;
            all = all && fit && (of.fits_all[set & ~(members{1} << f)][word] & bit) != 0;
        }
        if (all) of.fits_all[set][word] |= bit;
    }
}

/// The simplex method, from the schedule in which one moves after the other once all are there. False: the schedules of
/// the linear program can be cheaper than than_.
bool end_orders::solve(const pool& of, prices& found) {
    const uint32_t rows = of.count + of.periods - 1;
    const members all = (members{1} << of.count) - 1;
    std::array<uint32_t, most> place{};
    for (uint32_t d = 0; d < of.count; ++d) place[order_[d]] = d;
    const auto cost_of = [&](members set, uint32_t period) {
        uint32_t first = of.count;
        for (members rest = set; rest != 0; rest &= rest - 1) first = std::min(first, place[first_of(rest)]);
        return of.cost[(first < of.count ? after_[first] : 0) | (all & ~of.there[period])];
    };
    need_.resize(size_t{all} + 1);
    // The least of the costs of a set does not depend on the prices.
    std::array<std::array<double, most_rows>, most_rows> inverse{};
    std::array<double, most_rows> amount{}, cost{};
    for (uint32_t r = 0; r < rows; ++r) {
        // Not 1 where others leave less than it could take.
        const double alone = r < of.count ? of.speed[members{1} << r][r] : 1;
        inverse[r][r] = 1 / alone;
        amount[r] = (r < of.count ? left_s_[r] : lasts_s_[r - of.count]) / alone;
        cost[r] = r < of.count ? cost_of(members{1} << r, of.periods - 1) : cost_of(0, r - of.count);
    }
    for (uint32_t step = 0; step < 200; ++step) {
        double sum = 0;
        std::array<double, most_rows> price{};
        for (uint32_t r = 0; r < rows; ++r) {
            sum += cost[r] * amount[r];
            for (uint32_t i = 0; i < rows; ++i) price[i] += cost[r] * inverse[r][i];
        }
        if (sum < than_) return false;
        column chosen;
        double gain = 0;
        double its_cost = 0;
        for (uint32_t p = 0; p < of.periods; ++p) {
            const double of_time = p + 1 < of.periods ? price[of.count + p] : 0;
            for (members set = 1; set <= all; ++set) {
                if ((set & ~of.there[p]) != 0) continue;
                double need = of_time;
                for (uint32_t i = 0; i < of.count; ++i) need += price[i] * of.speed[set][i];
                const double costs = cost_of(set, p);
                if (need - costs <= std::max(gain, tiny * costs)) continue;
                gain = need - costs;
                its_cost = costs;
                chosen = {set, p};
            }
        }
        if (chosen.set == 0) {
            for (uint32_t i = 0; i < of.count; ++i) found.of_work[i] = price[i] * (1 - 2 * tiny);
            for (uint32_t p = 0; p + 1 < of.periods; ++p) found.of_time[p] = price[of.count + p] * (1 - 2 * tiny);
            return true;
        }
        std::array<double, most_rows> change{};
        uint32_t leaves = rows;
        double least = std::numeric_limits<double>::infinity();
        for (uint32_t r = 0; r < rows; ++r) {
            for (uint32_t i = 0; i < of.count; ++i) change[r] += inverse[r][i] * of.speed[chosen.set][i];
            if (chosen.period + 1 < of.periods) change[r] += inverse[r][of.count + chosen.period];
            if (change[r] > 1e-12 && amount[r] / change[r] < least) {
                least = amount[r] / change[r];
                leaves = r;
            }
        }
        if (leaves == rows) return false;
        for (uint32_t i = 0; i < rows; ++i) inverse[leaves][i] /= change[leaves];
        amount[leaves] = least;
        cost[leaves] = its_cost;
        for (uint32_t r = 0; r < rows; ++r) {
            if (r == leaves || change[r] == 0) continue;
            for (uint32_t i = 0; i < rows; ++i) inverse[r][i] -= change[r] * inverse[leaves][i];
            amount[r] = std::max(0.0, amount[r] - change[r] * least);
        }
    }
    return false;
}

}  // namespace halcyon::policy
