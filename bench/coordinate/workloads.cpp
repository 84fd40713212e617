/// How much applications are slowed down by one another under `dynamic`, and under other ways to share a storage: 200
/// workloads as those of IO-Sets, simulated with the real coordinator. Computed, not timed: the figures are the same on
/// every machine. All ways know of an application what its phases before were like, and nothing else.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "bench/figure.hpp"
#include "coordinate/policy_comparison.hpp"

namespace {

using namespace halcyon::bench;
using namespace halcyon::coordinate;

constexpr uint64_t first_seed = 1;
constexpr size_t seeds = 200;
constexpr size_t least_iterations = 5;

struct measure {
    const char* name;
    double outcome::*value;
};
constexpr measure measures[] = {
    {"", &outcome::excess}, {"_io", &outcome::io_excess}, {"_phase", &outcome::phase_excess}};

/// Why the case does not count; empty: it does.
std::vector<std::string> failed_premises(const case_outcomes& one, const workload_kind& kind) {
    std::vector<std::string> failed;
    const std::string seed = "seed " + std::to_string(one.seed) + ", ";
    if (!(std::abs(one.io_load - kind.io_load) <= 0.02 * kind.io_load))
        failed.push_back("the I/O shares add up to 0.8: " + seed + std::to_string(one.io_load));
    for (const outcome& each : one.by_way) {
        if (each.workload != one.by_way.front().workload)
            failed.push_back("all ways see the same workload: " + seed + "digests differ");
        if (each.faults != 0)
            failed.push_back("nobody loses a turn by a fault: " + seed + std::to_string(each.faults) + " faults");
        if (each.least_iterations < least_iterations)
            failed.push_back("the slowest application repeats itself: " + seed + std::to_string(each.least_iterations) +
                             " iterations");
    }
    return failed;
}

std::string over(const measure& what, const way& other) {
    return std::string("workloads") + what.name + "_over_" + other.name;
}

void tell_case(const case_outcomes& one, const std::vector<way>& ways, const std::vector<std::string>& failed) {
    for (const measure& what : measures)
        for (size_t k = 1; k < ways.size(); ++k)
            std::printf("value " HALCYON_BENCH_ROOM ".%s_by_seed %.9g ratio\n", over(what, ways[k]).c_str(),
                        one.by_way.front().*what.value / one.by_way[k].*what.value);
    for (const std::string& why : failed) std::printf("failed %s\n", why.c_str());
    std::printf("round\n");
}

}  // namespace

int main() {
    const workload_kind kind;
    const std::vector<way> ways = ways_to_share();
    const auto all = compare_ways(ways, first_seed, seeds, std::max(1U, std::thread::hardware_concurrency()), kind);
    size_t failed_cases = 0;
    for (const case_outcomes& one : all) {
        const auto failed = failed_premises(one, kind);
        failed_cases += failed.empty() ? 0 : 1;
        tell_case(one, ways, failed);
    }
    for (const measure& what : measures) {
        std::vector<double> means(ways.size());
        for (const case_outcomes& one : all)
            for (size_t k = 0; k < ways.size(); ++k) means[k] += one.by_way[k].*what.value / static_cast<double>(seeds);
        for (size_t k = 0; k < ways.size(); ++k) {
            count(std::string("workloads") + what.name + "_excess_" + ways[k].name, means[k], "slow-down-1");
            if (k == 0) continue;
            if (failed_cases == 0)
                count(over(what, ways[k]), means[0] / means[k], "ratio");
            else
                unmet(over(what, ways[k]).c_str(), (std::to_string(failed_cases) + " workloads do not count").c_str());
        }
    }
}
