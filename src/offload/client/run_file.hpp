#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/store/store_traits.hpp"

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

/// Whether it is that, the run's manifest, or the mark of its directory.
bool is_record_of_run(const std::string& name);

/// Whether it is, or was about to become, a data file or the view of `simulation` in this format; hidden ones too.
bool is_of_format(const std::string& name, const std::string& simulation, const store_traits& format);

}  // namespace halcyon::offload
