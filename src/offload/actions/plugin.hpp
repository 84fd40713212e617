#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// Where a plugin runs.
struct plugin_place {
    std::string directory;          ///< of the run's records
    std::string working_directory;  ///< relative paths start here
    int node = 0;
    int nodes = 1;
    int ranks = 1;          ///< of the communicator of open
    bool isolated = false;  ///< in a process of its own
};

/// One run of a plugin, and what it sees.
struct plugin_run {
    const event* of = nullptr;
    int64_t iteration = 0;
    int rank = -1;                         ///< the raiser; -1 for scope node and job
    std::span<const block_view> blocks;    ///< in memory, of the iteration
    std::span<const block_view> once;      ///< in memory, written once and earlier
    size_t left_out = 0;                   ///< blocks that are not in memory any more
    std::span<const double> parameters{};  ///< values, in the order of the model
    /// Raises an event of scope job: 0; 1 where there is no such event; 2 where that cannot be. Empty: it cannot.
    std::function<int(const std::string& event)> raise_job{};
};

/// A plugin as those see it who run it: in a worker process, or inline. One thread uses it. No function throws.
class plugin {
  public:
    virtual ~plugin() = default;
    virtual result<void> init() = 0;
    /// Failure (usage): the run failed, and says so; the next one comes all the same.
    virtual result<void> run(const plugin_run& r) = 0;
    virtual result<void> finalize() = 0;
};

}  // namespace halcyon::offload
