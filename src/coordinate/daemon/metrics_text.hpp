#pragma once

#include <map>
#include <string>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/coordinator/snapshot.hpp"
#include "coordinate/daemon/daemon_counts.hpp"

namespace halcyon::coordinate {

/// What Prometheus reads, all of it at one moment.
struct measured {
    std::string name;  ///< of the coordinator
    snapshot state;
    counts counted;
    daemon_counts of_daemon;
    std::map<std::string, double, std::less<>> counted_before;  ///< in earlier epochs of this process, by name
    int64_t buffered_bytes = 0;
    size_t connections = 0;
    bool leads = true;
    double up_s = 0;
};

/// Prometheus' text format, version 0.0.4: each metric with HELP and TYPE, all with the label `coordinator`.
std::string metrics_text(const measured& what);

}  // namespace halcyon::coordinate
