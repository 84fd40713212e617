#pragma once

#include <string>
#include <vector>

namespace halcyon {

/// Binds this process to a core of the job's cpuset that no client is bound to; failing that, to all of the cpuset.
/// `client_cpus`: lists like "0-3,8", "" for a client that is not bound. `server`: index among the machine's servers,
/// of which each takes another core. Returns what was done, for the log.
std::string take_free_core(const std::vector<std::string>& client_cpus, int server);

}  // namespace halcyon
