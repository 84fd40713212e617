#include "models/stripes.hpp"

#include <algorithm>
#include <cmath>

#include "models/requirement.hpp"

namespace halcyon::models {

namespace {

constexpr int64_t MOST_TARGETS = int64_t{1} << 40;
constexpr int64_t MOST_RANKS = int64_t{1} << 40;
/// Relative: loads that differ by less are equal. Two jobs on 320 of 480 targets each have load 1.5, give or take
/// rounding.
constexpr double EQUAL = 1e-12;

void require_request(int64_t targets, double stripes) {
    require(targets >= 1 && targets <= MOST_TARGETS, "targets", static_cast<double>(targets), "1 to 2^40 targets");
    require(stripes >= 0 && stripes <= static_cast<double>(targets), "stripes", stripes,
            "0 up to the number of targets: a file has one stripe per target at most");
}

expected_load with_load(double requested, double in_use) {
    return {requested, in_use, in_use > 0 ? requested / in_use : 0};
}

/// The least value in (low, high] for which `holds` is true; it is true for high, and from there on.
template <class Predicate>
int64_t least(int64_t low, int64_t high, const Predicate& holds) {
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        (holds(middle) ? high : low) = middle;
    }
    return high;
}

}  // namespace

expected_load load_of_jobs(int64_t targets, std::span<const double> stripes) {
    require_request(targets, 0);
    const auto total = static_cast<double>(targets);
    double requested = 0;
    double in_use = 0;
    for (const double request : stripes) {
        require_request(targets, request);
        requested += request;
        in_use += request * (1 - in_use / total);  // eq. 6.1
    }
    return with_load(requested, in_use);
}

expected_load load_of_equal_jobs(int64_t targets, double stripes, int64_t jobs) {
    require_request(targets, stripes);
    require(jobs >= 0, "jobs", static_cast<double>(jobs), "0 jobs or more");
    const auto total = static_cast<double>(targets);
    const auto count = static_cast<double>(jobs);
    // eq. 6.2, 1 - (1 - R/D)^n: expm1 and log1p keep its digits where R/D is small.
    const double share = jobs == 0 ? 0 : -std::expm1(count * std::log1p(-stripes / total));
    return with_load(stripes * count, total * share);
}

int64_t ranks_at_load(int64_t targets, double stripes, double load, int64_t ranks_per_node) {
    require_request(targets, stripes);
    require_positive("stripes", stripes);
    require(load >= 1 && std::isfinite(load), "load", load, "a load of 1 or more");
    require(ranks_per_node >= 1, "ranks_per_node", static_cast<double>(ranks_per_node), "1 rank or more");
    const auto reached = [&](int64_t nodes) {
        return load_of_equal_jobs(targets, stripes, nodes * ranks_per_node).load >= load * (1 - EQUAL);
    };
    // All targets in use is the most there can be: load * targets / stripes ranks reach it for certain.
    const double enough = std::ceil(load * static_cast<double>(targets) / stripes);
    require(enough < static_cast<double>(MOST_RANKS), "load", load, "a load that fewer than 2^40 ranks reach");
    const int64_t nodes = static_cast<int64_t>(enough) / ranks_per_node + 1;
    return least(0, nodes, reached) * ranks_per_node;
}

int64_t request_for_load(int64_t targets, int64_t jobs, double load) {
    require_request(targets, 0);
    require(load >= 1 && std::isfinite(load), "load", load, "a load of 1 or more");
    const auto above = [&](int64_t request) {
        if (request > targets) return true;
        return load_of_equal_jobs(targets, static_cast<double>(request), jobs).load > load * (1 + EQUAL);
    };
    return std::max<int64_t>(least(0, targets + 1, above) - 1, 1);
}

int64_t targets_for_load(std::span<const double> stripes, double load) {
    double largest = 1;
    int64_t jobs = 0;
    for (const double request : stripes) {
        require_request(MOST_TARGETS, request);
        largest = std::max(largest, request);
        jobs += request > 0;
    }
    require(std::isfinite(load) && (load > 1 || (jobs <= 1 && load == 1)), "load", load,
            "a load above 1: jobs at random places may always collide");
    const auto enough = [&](int64_t targets) { return load_of_jobs(targets, stripes).load <= load * (1 + EQUAL); };
    const auto fewest = static_cast<int64_t>(std::ceil(largest));
    require(enough(MOST_TARGETS), "load", load, "a load that 2^40 targets keep");
    return least(fewest - 1, MOST_TARGETS, enough);
}

}  // namespace halcyon::models
