#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/turn.hpp"
#include "logfs/background/watched_job.hpp"

namespace halcyon::logfs {

struct agent_settings {
    std::vector<std::string> roots;  ///< absolute directories, below which the containers are
    bool flattens = false;           ///< makes plain files of containers that nobody has open
    /// The directory on this node's disk from which it brings data into their containers (tools/bring.hpp); "": none.
    std::string stage;
    double bytes_per_s = 0;  ///< that are written, at most; 0: as fast as it goes
    /// While the job runs, containers are left alone until they have not changed for so long.
    int64_t quiet_ns = int64_t{5} * 1'000'000'000;
    /// For how long behind the job's end it waits for containers that others have open, and for what failed to become
    /// possible, while nothing else is done.
    int64_t patience_ns = int64_t{600} * 1'000'000'000;
    std::string report_file;  ///< where it is said why containers are left alone, while there are such; "": nowhere
};

struct agent_report {
    uint64_t flattened = 0;
    int64_t flattened_bytes = 0;
    int64_t brought_bytes = 0;
    std::vector<std::string> left;  ///< why containers are as they were
};

/// Works on the containers below the roots until `job` has ended and there is nothing more to do. Whatever it does can
/// be cut short at any moment, and is gone on with by the next one that works there. May throw bad_alloc only.
agent_report run_agent(const agent_settings& how, watched_job& job, turn& turns);

}  // namespace halcyon::logfs
