// Compares dynamic with exhaustive search on more instances than a test has time for: policy_campaign APPLICATIONS
// FIRST INSTANCES SEED [POSITIONS]. Up to 7 applications: the search with brute force; 8: with a bounded enumeration.
// From 9 on: the cost that decisions of the heuristic lead to, over a bound of all schedules; where that is above 2 %,
// over the least cost of all schedules: that search ends after so many positions. An instance depends on its number,
// not on those before it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "policy/bounded_enumeration.hpp"
#include "policy/brute_force.hpp"
#include "policy/pair_prices.hpp"
#include "policy/random_group.hpp"
#include "policy/random_problem.hpp"

namespace halcyon::policy {
namespace {

/// Of random instances with so many applications.
struct range {
    uint32_t count;
    uint32_t first;
    uint32_t instances;
    uint32_t seed;
    uint64_t positions = 20'000'000;  ///< half a minute to two

    [[nodiscard]] std::mt19937_64 random(uint32_t k) const {
        std::seed_seq of{seed, count, k};
        return std::mt19937_64(of);
    }
};

int compare_with_brute_force(const range& of) {
    exact_search search;
    speed_table speeds;
    int different = 0;
    for (uint32_t k = of.first; k < of.first + of.instances; ++k) {
        std::mt19937_64 random = of.random(k);
        const instance_kind kind{(k & 1) != 0, (k & 2) != 0, (k & 4) != 0, (k & 8) != 0, (k & 16) != 0, (k & 32) != 0};
        const problem some = random_problem(random, of.count, kind);
        speeds.fill(some);
        const plan found = search.solve(some, speeds, {0, std::numeric_limits<double>::infinity(), 0, true});
        const double least = of.count <= 7 ? brute_force(some).best().first
                                           : bounded_enumeration(some).least_cost(found.cost * (1 + 1e-9));
        if (std::abs(found.cost - least) <= 1e-9 * least) continue;
        ++different;
        std::printf("instance %u: %.12g, brute force %.12g\n", k, found.cost, least);
    }
    std::printf("%u applications: %d of %u instances differ\n", of.count, different, of.instances);
    return different == 0 ? 0 : 1;
}

/// What dynamic's decisions cost over the least cost of all schedules, less 1.
struct gap {
    double value = 0;
    const char* known = "";  ///< exact, at_most, at_least, not_known
    uint64_t positions = 0;
};

constexpr double bar = 0.02;

/// Most gaps are bounded in milliseconds, by prices. Where that leaves more than the bar, schedules are searched for
/// one that is better by more.
gap gap_of(const random_group& some, metric minimise, uint64_t most) {
    constexpr double small = 0.002;
    constexpr uint32_t programs_for_small = 20, programs_for_bar = 2000;
    const double cost = cost_of_dynamic(some, minimise);
    const whole_problem whole(some, minimise);
    proof found = prove(whole.of, whole.speeds, cost / (1 + small), programs_for_small);
    const double threshold = cost / (1 + bar);
    if (found.bound < threshold) found = prove(whole.of, whole.speeds, threshold, programs_for_bar);
    if (found.bound >= threshold) return {std::max(cost / found.bound - 1, 0.0), "at_most", 0};
    const plan better = whole.least_cost(threshold, most);
    if (better.cost < threshold) return {cost / better.cost - 1, better.complete ? "exact" : "at_least", better.nodes};
    return {better.complete ? bar : 0, better.complete ? "at_most" : "not_known", better.nodes};
}

int measure_gaps(const range& of) {
    double worst = 0;
    uint32_t above = 0, not_known = 0;
    for (uint32_t k = of.first; k < of.first + of.instances; ++k) {
        std::mt19937_64 random = of.random(k);
        const random_group some = make_group(random, of.count, k % 8);
        const auto minimise = static_cast<metric>(k / 8 % 4);
        const gap found = gap_of(some, minimise, of.positions);
        worst = std::max(worst, found.value);
        above += found.value > bar ? 1 : 0;
        not_known += found.known == std::string_view("not_known") ? 1 : 0;
        std::printf("%u %u %s %.5f %s %llu\n", k, k % 8, name_of(minimise), found.value, found.known,
                    static_cast<unsigned long long>(found.positions));
        std::fflush(stdout);
    }
    std::printf("%u applications: worst gap %.4f %%, above 2 %%: %u of %u; not known: %u\n", of.count, 100 * worst,
                above, of.instances, not_known);
    return above == 0 ? 0 : 1;
}

}  // namespace
}  // namespace halcyon::policy

int main(int count, char** arguments) {
    using namespace halcyon::policy;
    if (count != 5 && count != 6) {
        std::fprintf(stderr, "usage: policy_campaign APPLICATIONS FIRST INSTANCES SEED [POSITIONS]\n");
        return 2;
    }
    const auto number = [&](int which) { return static_cast<uint32_t>(std::strtoul(arguments[which], nullptr, 10)); };
    range wanted{number(1), number(2), number(3), number(4)};
    if (count == 6) wanted.positions = std::strtoull(arguments[5], nullptr, 10);
    if (wanted.count == 0 || wanted.count > problem::most || wanted.instances == 0) {
        std::fprintf(stderr, "error: 1 to %u applications, 1 instance at least\n", problem::most);
        return 2;
    }
    return wanted.count <= 8 ? compare_with_brute_force(wanted) : measure_gaps(wanted);
}
