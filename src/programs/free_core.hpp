#pragma once

#include <string>
#include <vector>

namespace halcyon {

struct core_taken {
    bool own = false;  ///< no client is bound to it
    std::string said;  ///< what was done, for the log
};

/// Binds this process to a core of the job's cpuset that no client is bound to; failing that, to all of the cpuset.
/// `client_cpus`: lists like "0-3,8", "" for a client that is not bound. `server`: index among the machine's servers,
/// of which each takes another core.
core_taken take_free_core(const std::vector<std::string>& client_cpus, int server);

}  // namespace halcyon
