#pragma once

#include <string>
#include <vector>

namespace halcyon::offload {

/// The cores this process may run on, as "0-3,8"; "" when it is not bound to fewer than all.
[[nodiscard]] std::string bound_cores();

/// How many cores of this machine are left for servers: those that no client is bound to, or, where clients are not
/// bound, those that are more than clients. One entry of `client_cores` for each client, as bound_cores() gives it.
[[nodiscard]] int cores_left(const std::vector<std::string>& client_cores);

}  // namespace halcyon::offload
