#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// The run that a configuration is checked for.
struct intended_run {
    int ranks = 0;                             ///< 0: not known; then only what holds for every run is checked
    int ranks_per_node = 0;                    ///< 0: all ranks on one node
    std::map<std::string, double> parameters;  ///< that the simulation sets before it opens the session
};

/// What is known of a configuration before anything runs.
struct configuration_check {
    std::string summary;                ///< one line: what it describes, the bytes of an iteration, the buffer it needs
    std::vector<std::string> refusals;  ///< why `open` would fail
    std::vector<std::string> warnings;  ///< what `open` accepts, but is hardly meant
    std::string verdict;                ///< "OK: " and what was looked at; "" with refusals
};

/// Reads the configuration file `path` as a simulation would. Refusals: stores and modules that cannot be loaded, a
/// directory for what is spilled or stored that cannot be used or holds a run, a buffer that is too small for some
/// node, or larger than the memory of this machine. Warnings: no stores, blocks that overlap or leave holes in their
/// whole, meshes that do not fit their variables. Paths are relative to the working directory, as they are in a
/// simulation. Failures: those of parse_model() and shape_of(); system where the file cannot be read.
[[nodiscard]] result<configuration_check> check_configuration(const std::string& path, const intended_run& run);

}  // namespace halcyon::offload
