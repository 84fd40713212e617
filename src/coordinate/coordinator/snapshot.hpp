#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinate/coordinator/seen_state.hpp"
#include "policy/decide.hpp"

namespace halcyon::coordinate {

/// One application, for `top` and metrics.
struct application_state {
    uint64_t application = 0;
    std::string job;
    uint32_t user = 0;
    std::string account;
    int64_t processes = 0;
    int64_t nodes = 0;
    int64_t agents = 0;
    policy::movement state = policy::movement::computing;
    turn_stage turn = turn_stage::none;
    int64_t bytes_left = 0;
    double left_s = 0;  ///< as believed
    double in_state_s = 0;
    double expected_wait_s = 0;
    uint64_t lease = 0;
};

struct snapshot {
    policy::rule rule = policy::rule::dynamic;
    policy::metric metric = policy::metric::sum_of_times;
    uint64_t epoch = 0;
    double bytes_per_s = 0;     ///< of all, by the last reports of those that move
    double unseen_share = 0;    ///< of the bandwidth, taken by writers without Halcyon
    double interruption_s = 0;  ///< that an interruption counts as
    uint32_t connections = 0;
    std::map<policy::reason, uint64_t> decisions_by_reason;  ///< that changed anything, since the start
    std::vector<application_state> applications;             ///< by number
};

}  // namespace halcyon::coordinate
