#include "models/collisions.hpp"

#include <algorithm>
#include <cmath>

#include "models/requirement.hpp"

namespace halcyon::models {

namespace {

constexpr int64_t MOST_TARGETS = int64_t{1} << 16;
/// Probabilities below are none: with them a million jobs would take a million times as long.
constexpr double NOTHING = 1e-300;

void require_whole(int64_t targets, std::span<const double> stripes) {
    require(targets >= 1, "targets", static_cast<double>(targets), "1 target or more");
    for (const double request : stripes)
        require(request >= 0 && request <= static_cast<double>(targets) && request == std::floor(request), "stripes",
                request, "a whole number from 0 to the number of targets");
}

double log_choose(double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// One job of `request` stripes more: `now[u]` becomes the probability of u targets in use after it.
void add_job(std::vector<double>& now, int64_t targets, int64_t request) {
    const auto total = static_cast<double>(targets);
    const double ways = log_choose(total, static_cast<double>(request));
    std::vector<double> next(now.size(), 0.0);
    for (int64_t used = 0; used <= targets; ++used) {
        const double before = now[static_cast<size_t>(used)];
        if (before < NOTHING) continue;
        const int64_t free = targets - used;
        const int64_t least_new = std::max<int64_t>(0, request - used);
        for (int64_t fresh = least_new; fresh <= std::min(request, free); ++fresh) {
            // Hypergeometric: `fresh` of the stripes on free targets, the others on targets in use.
            const double chance =
                std::exp(log_choose(static_cast<double>(free), static_cast<double>(fresh)) +
                         log_choose(static_cast<double>(used), static_cast<double>(request - fresh)) - ways);
            next[static_cast<size_t>(used + fresh)] += before * chance;
        }
    }
    now = std::move(next);
}

}  // namespace

std::vector<double> jobs_on_a_target(int64_t targets, std::span<const double> stripes) {
    require_whole(targets, stripes);
    std::vector<double> on_it{1.0};
    for (const double request : stripes) {
        const double chance = request / static_cast<double>(targets);
        if (chance == 0) continue;
        on_it.push_back(0);
        for (size_t k = on_it.size() - 1; k > 0; --k) on_it[k] = on_it[k] * (1 - chance) + on_it[k - 1] * chance;
        on_it[0] *= 1 - chance;
        // The tail of a long row of jobs vanishes; keeping it would make the loop quadratic for nothing.
        while (on_it.size() > 1 && on_it.back() < NOTHING) on_it.pop_back();
    }
    return on_it;
}

std::vector<double> targets_in_use(int64_t targets, std::span<const double> stripes) {
    require(targets <= MOST_TARGETS, "targets", static_cast<double>(targets), "65,536 targets or fewer");
    require_whole(targets, stripes);
    std::vector<double> in_use(static_cast<size_t>(targets) + 1, 0.0);
    in_use[0] = 1;
    for (const double request : stripes) add_job(in_use, targets, static_cast<int64_t>(request));
    return in_use;
}

}  // namespace halcyon::models
