#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// run.json: who ran where (docs/run-directory.md).
struct run_file {
    std::string approach, simulation;
    int ranks = 1;
    std::vector<int> clients_per_node;
    int dedicated_cores = 0;
    int64_t started_ns = 0;
    std::optional<int64_t> ended_ns;
    /// Of rank 0, known at the end: the time inside open, inside close, and inside the calls between them.
    int64_t open_ns = 0, close_ns = 0, visible_ns = 0;
    std::map<std::string, double> parameters;
    std::vector<std::string> writers;

    /// Writes `directory`/run.json by rename.
    [[nodiscard]] result<void> save(const std::string& directory) const;
};

/// Whether it is one of the records that a server or inline client keeps from its first moment on.
bool is_record_of_server(const std::string& name);

/// Whether a file of this name in a store's directory was left by a run of `simulation`.
bool belongs_to_run(const std::string& name, const std::string& simulation);

}  // namespace halcyon::offload
