// Compares dynamic with exhaustive search on more instances than a test has time for: policy_campaign APPLICATIONS
// FIRST INSTANCES SEED. Up to 7 applications: the search with brute force; 8: with a bounded enumeration. From 9 on:
// the cost that decisions of the heuristic lead to, over the least of all schedules. An instance depends on its number,
// not on those before it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "policy/bounded_enumeration.hpp"
#include "policy/brute_force.hpp"
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
        const instance_kind kind{(k & 1) != 0, (k & 2) != 0, (k & 4) != 0, (k & 8) != 0, (k & 16) != 0};
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

int measure_gap(const range& of) {
    constexpr uint64_t nodes = 20'000'000;  // half a minute or so
    double worst = 0;
    double sum = 0;
    uint32_t above = 0;
    uint32_t not_complete = 0;
    for (uint32_t k = of.first; k < of.first + of.instances; ++k) {
        std::mt19937_64 random = of.random(k);
        const random_group some = make_group(random, of.count, k % 8);
        const auto minimise = static_cast<metric>(k / 8 % 4);
        const double cost = cost_of_dynamic(some, minimise);
        const plan best = least_cost(some, minimise, cost * (1 + 1e-9), nodes);
        const double gap = std::max(cost / best.cost - 1, 0.0);
        worst = std::max(worst, gap);
        sum += gap;
        above += gap > 0.02 ? 1 : 0;
        not_complete += best.complete ? 0 : 1;
        std::printf("%u %u %s %.5f %llu%s\n", k, k % 8, name_of(minimise), gap,
                    static_cast<unsigned long long>(best.nodes), best.complete ? "" : " not complete");
        std::fflush(stdout);
    }
    std::printf("%u applications: gap mean %.4f %%, worst %.4f %%, above 2 %%: %u of %u; search not complete: %u\n",
                of.count, 100 * sum / of.instances, 100 * worst, above, of.instances, not_complete);
    return above == 0 ? 0 : 1;
}

}  // namespace
}  // namespace halcyon::policy

int main(int count, char** arguments) {
    using namespace halcyon::policy;
    if (count != 5) {
        std::fprintf(stderr, "usage: policy_campaign APPLICATIONS FIRST INSTANCES SEED\n");
        return 2;
    }
    const auto number = [&](int which) { return static_cast<uint32_t>(std::strtoul(arguments[which], nullptr, 10)); };
    const range wanted{number(1), number(2), number(3), number(4)};
    if (wanted.count == 0 || wanted.count > problem::most || wanted.instances == 0) {
        std::fprintf(stderr, "error: 1 to %u applications, 1 instance at least\n", problem::most);
        return 2;
    }
    return wanted.count <= 8 ? compare_with_brute_force(wanted) : measure_gap(wanted);
}
