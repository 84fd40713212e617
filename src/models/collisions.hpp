#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halcyon::models {

/// How many of `stripes.size()` jobs use one target, when job j is on `stripes[j]` of `targets` targets at random
/// (whole requests): element k is the probability that k jobs do. Exact: the number of jobs on a target is a sum of
/// independent trials with chances r_j / D, for equal requests a binomial distribution. `targets` times element k is
/// the expected number of targets that k jobs use, hence with k - 1 collisions (Wright 2014, table 6.5, appendix G).
/// Errors (usage): no target, a request that is not whole or out of bounds.
std::vector<double> jobs_on_a_target(int64_t targets, std::span<const double> stripes);

/// The number of targets in use: element u is the probability that u of `targets` targets have at least one stripe.
/// Exact: each job adds a hypergeometric number of targets to those in use; the mean is Wright 2014, eq. 6.1.
/// Takes about targets * (sum of the requests) steps. Errors as above; (usage): more than 2^16 targets.
std::vector<double> targets_in_use(int64_t targets, std::span<const double> stripes);

}  // namespace halcyon::models
