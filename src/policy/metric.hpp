#pragma once

#include <cstdint>

#include "policy/application.hpp"

namespace halcyon::policy {

/// What `dynamic` minimises: a sum over applications of the time T of their phases, waiting included, each times the
/// weight of its account.
enum class metric : uint8_t {
    sum_of_times,                 ///< T
    sum_of_interference_factors,  ///< T / T alone
    cpu_hours,                    ///< processes x T (Dorier 2014, section 6.3.4), in hours
    energy,                       ///< nodes x watts x T, in joules
};

/// Of one second more of an application's phase; finite and not negative.
double cost_per_s(const application& one, metric of);

}  // namespace halcyon::policy
