#pragma once

#include <cstdint>
#include <span>

namespace halcyon::models {

/// Targets that jobs are expected to use when the file system spreads each job's stripes at random: no two stripes of
/// one job on the same target, jobs independent of one another (Wright 2014, section 6.2).
struct expected_load {
    /// Stripes of all jobs (eq. 6.3).
    double requested = 0;
    /// Targets with at least one stripe (eq. 6.1, 6.2).
    double in_use = 0;
    /// Stripes on a target that has any (eq. 6.4): 1 without collisions; 0 where nothing is requested.
    double load = 0;
};

/// Wright 2014, eq. 6.1 with 6.4: `stripes` holds one request (targets of one job) per job, 0 to `targets` each.
/// Errors (usage): no target, a request out of bounds.
expected_load load_of_jobs(int64_t targets, std::span<const double> stripes);

/// Wright 2014, eq. 6.2 to 6.4: `jobs` jobs that request `stripes` targets each. With one job per rank and the stripes
/// of one rank's log these are eq. 6.5 and 6.6 (there 2 stripes). `stripes` need not be whole: the mean of a mix.
expected_load load_of_equal_jobs(int64_t targets, double stripes, int64_t jobs);

/// The least number of ranks, a multiple of `ranks_per_node`, whose logs (one job of `stripes` stripes per rank)
/// bring the load to `load` (eq. 6.6). Wright 2014 puts the end of "good" performance at load 3: 688 ranks on nodes of
/// 16 cores, 480 targets, 2 stripes. Errors (usage): a load below 1, more stripes than targets.
int64_t ranks_at_load(int64_t targets, double stripes, double load, int64_t ranks_per_node);

/// The largest whole request with which `jobs` equal jobs keep the load at or below `load`: at least 1 (with which the
/// load may be above), at most `targets`.
int64_t request_for_load(int64_t targets, int64_t jobs, double load);

/// The fewest targets with which these jobs keep the load at or below `load`, and that hold the largest request.
/// Wright 2014, section 6.4: what to buy for an I/O workload. Errors (usage): a load that is not above 1 although two
/// jobs or more request targets.
int64_t targets_for_load(std::span<const double> stripes, double load);

}  // namespace halcyon::models
