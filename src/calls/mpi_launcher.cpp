#include "calls/mpi_launcher.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "calls/direct_call.hpp"

namespace halcyon::calls {

bool is_mpi_launcher() {
    // Of Open MPI until release 4 and from release 5 (PRRTE), of MPICH and its descendants, and as both name links.
    constexpr std::string_view names[] = {"orterun", "orted",         "prterun",         "prted",
                                          "prte",    "mpiexec.hydra", "hydra_pmi_proxy", "hydra_bstrap_proxy",
                                          "mpirun",  "mpiexec"};
    char path[512];
    const long length =
        direct::call(SYS_readlinkat, AT_FDCWD, direct::address("/proc/self/exe"), direct::address(path), sizeof path);
    if (length <= 0 || length == sizeof path) return false;
    std::string_view name(path, static_cast<size_t>(length));
    name.remove_prefix(name.rfind('/') + 1);
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace halcyon::calls
