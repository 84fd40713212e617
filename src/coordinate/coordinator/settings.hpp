#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "policy/decide.hpp"

namespace halcyon::coordinate {

/// What one user may have at a time. Beyond: refused or closed, and counted; others are not concerned.
struct user_limits {
    uint32_t connections = 8192;
    uint32_t applications = 1024;   ///< registered at a time
    uint32_t targets = 65536;       ///< listed at a time; beyond, an application counts as using all
    double messages_per_s = 20000;  ///< over a longer time; up to five times as many for large jobs (users.cpp)
    double messages_at_once = 40000;
    bool operator==(const user_limits&) const = default;
};

/// Processes and nodes of an application begin a phase within so long, as far as nobody says otherwise.
inline constexpr double all_begin_within_s = 0.1;
/// Most of them within so long.
inline constexpr double most_begin_within_s = 0.025;

/// How one file system is coordinated, as in coordinators.yaml. Durations are in seconds.
struct settings {
    policy::rule rule = policy::rule::dynamic;
    policy::metric metric = policy::metric::sum_of_interference_factors;
    policy::settings bounds{
        .least_gain = 0.02, .all_begin_within_s = all_begin_within_s, .interrupts_after_s = most_begin_within_s};
    /// Of dynamic's searches, by the coordinator's clock; as many at once (search_budget). Less than a third of one
    /// core's time.
    double search_positions_per_s = 200'000;
    policy::interference::settings interference;

    double heartbeat_s = 0.25;  ///< either side says something at least so often
    double dead_s = 0.5;        ///< an agent whose connection broke may come back within this and goes on
    double stalled_s = 4.5;     ///< nothing heard of an agent, or nothing moved by a holder: gone a heartbeat later
    double stop_s = 5;          ///< from `recall` to the last `stopped`; then the lease is void
    double relearn_s = 0.6;  ///< after the start: only who shows a lease moves on; agents try every 0.25 s to connect

    /// A reserved job without applications, of which the batch system has said nothing for so long, is over.
    double reservation_s = 30 * 86400.0;

    double lease_s = 0.2;                          ///< a lease is as many bytes as the link moves in it
    int64_t most_lease_bytes = int64_t{64} << 20;  ///< of an agent
    int64_t first_lease_bytes = int64_t{4} << 20;  ///< of an agent whose link is not known yet
    int64_t least_lease_bytes = int64_t{64} << 10;

    double storage_bytes_per_s = 0;  ///< of all servers together; 0: not known
    double watts_per_node = 1;
    std::map<std::string, double, std::less<>> account_weights;  ///< accounts that are not named: by user, 1
    int64_t most_processes = 1'000'000'000;                      ///< that are believed of one application
    int64_t most_nodes = 1'000'000'000;

    user_limits per_user;
    uint32_t most_applications = 65536;  ///< registered, of all users
    uint32_t decisions_kept = 256;       ///< for `explain`
    bool operator==(const settings&) const = default;

    /// What costs depend on, and no application says by itself: how many processes and nodes are believed of it, and
    /// what a node takes.
    void complete(policy::application& one) const {
        one.processes = std::min(one.processes, most_processes);
        one.nodes = std::min(one.nodes, most_nodes);
        one.watts_per_node = watts_per_node;
    }
};

}  // namespace halcyon::coordinate
