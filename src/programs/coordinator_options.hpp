#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "coordinate/configuration/coordinators.hpp"

namespace halcyon::coordinate {

/// The command line of halcyon-coordinator.
struct coordinator_options {
    enum class task : uint8_t { run, check, show, show_one, help, version };
    task what = task::run;
    std::string file;  ///< coordinators.yaml; empty: everything is on the command line
    std::string name;  ///< of the coordinator
    std::vector<std::string> addresses;
    std::string policy;
    std::string metric;
    std::string metrics;
    std::string ends_with;  ///< number of the process that started it; empty: it outlives that
};

/// Failure (usage): an option that is not known, or lacks its value.
result<coordinator_options> parse_options(std::span<const char* const> arguments);

/// What it runs by: read from the file, then what the command line says.
result<coordinator_entry> configured(const coordinator_options& options);

extern const char* const coordinator_usage;

}  // namespace halcyon::coordinate
