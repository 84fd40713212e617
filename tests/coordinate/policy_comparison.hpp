#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinate/simulated_workload.hpp"

namespace halcyon::coordinate {

/// One way to share a storage.
struct way {
    std::string name;
    division by = division::turns;
    policy::rule rule = policy::rule::dynamic;
};

/// dynamic first, then those that it is compared with.
std::vector<way> ways_to_share();

/// Of one workload under one way. Excesses are means of slow-downs, minus 1.
struct outcome {
    double excess = 0;        ///< over applications: run time over the run time alone
    double io_excess = 0;     ///< over applications: time in I/O over the time that the I/O takes alone
    double phase_excess = 0;  ///< over phases: the same
    double greatest = 0;      ///< the greatest run time over the run time alone
    uint64_t turns = 0;
    uint64_t faults = 0;
    size_t least_iterations = 0;
    uint64_t workload = 0;  ///< digest of what it was run on
    bool operator==(const outcome&) const = default;
};

struct case_outcomes {
    uint64_t seed = 0;
    size_t applications = 0;
    double io_load = 0;
    std::vector<outcome> by_way;
    bool operator==(const case_outcomes&) const = default;
};

/// Runs the workloads of `count` seeds from `first` on under all ways, `threads` of them at a time. The result does not
/// depend on `threads`.
std::vector<case_outcomes> compare_ways(const std::vector<way>& ways, uint64_t first, size_t count, unsigned threads,
                                        const workload_kind& kind = {}, const storage_model& on = {});

}  // namespace halcyon::coordinate
