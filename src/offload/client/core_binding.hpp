#pragma once

#include <string>
#include <vector>

namespace halcyon::offload {

/// The cores this process may run on, as "0-3,8"; "" when it is not bound to fewer than all.
[[nodiscard]] std::string bound_cores();

/// Whether several clients may all run on the same part of the machine's cores: nobody gave each a core of its own, but
/// the job was restricted to these (taskset, a batch system), and so are its servers.
[[nodiscard]] bool share_one_set(const std::vector<std::string>& client_cores);

/// How many cores of this machine are left for servers: those that no client is bound to, or, where clients are not
/// bound, those that are more than clients; of a job that is restricted to some cores, of these. One entry of
/// `client_cores` for each client, as bound_cores() gives it.
[[nodiscard]] int cores_left(const std::vector<std::string>& client_cores);

}  // namespace halcyon::offload
