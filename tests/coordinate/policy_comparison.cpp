#include "coordinate/policy_comparison.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace halcyon::coordinate {

namespace {

/// The defaults of a coordinator, but for what only explanations need.
settings settings_of(policy::rule rule) {
    settings how;
    how.rule = rule;
    how.bounds.alternatives = false;
    how.interference.pairs = 1024;
    return how;
}

outcome run(const periodic_workload& of, const way& one, const storage_model& on) {
    simulated_workload all(of, settings_of(one.rule), one.by, on);
    all.run();
    outcome made;
    for (size_t i = 0; i < all.applications(); ++i) {
        made.excess += (all.slow_down(i) - 1) / static_cast<double>(all.applications());
        made.io_excess += (all.io_slow_down(i) - 1) / static_cast<double>(all.applications());
        made.greatest = std::max(made.greatest, all.slow_down(i));
    }
    made.phase_excess = all.phase_slow_down() - 1;
    made.turns = all.turns();
    made.faults = all.faults();
    made.least_iterations = all.least_iterations();
    made.workload = of.digest();
    return made;
}

}  // namespace

std::vector<way> ways_to_share() {
    return {{"dynamic", division::turns, policy::rule::dynamic},
            {"set10", division::turns, policy::rule::set_10},
            {"fair_share", division::turns, policy::rule::fair_share},
            {"fcfs", division::turns, policy::rule::fcfs},
            {"uncoordinated", division::equal, policy::rule::interfere},
            {"set10_by_bandwidth", division::sets, policy::rule::interfere},
            {"shortest_first", division::shortest_first, policy::rule::interfere}};
}

std::vector<case_outcomes> compare_ways(const std::vector<way>& ways, uint64_t first, size_t count, unsigned threads,
                                        const workload_kind& kind, const storage_model& on) {
    std::vector<case_outcomes> all(count);
    std::atomic<size_t> next{0};
    const auto work = [&] {
        for (size_t i = next++; i < count; i = next++) {
            const periodic_workload of = make_workload(first + i, kind);
            all[i] = {first + i, of.all.size(), of.io_load(), {}};
            for (const way& one : ways) all[i].by_way.push_back(run(of, one, on));
        }
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    others.clear();
    return all;
}

}  // namespace halcyon::coordinate
