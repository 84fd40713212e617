#include "calls/state/mpi_launcher.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "calls/state/direct_call.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {
namespace {

bool is_named_like_launcher() {
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

}  // namespace

bool is_mpi_launcher() {
    std::atomic<mpi_role>& role = this_process().role;
    mpi_role known = role.load(std::memory_order_relaxed);
    if (known == mpi_role::not_asked) {
        known = is_named_like_launcher() ? mpi_role::launcher : mpi_role::other;
        role.store(known, std::memory_order_relaxed);
    }
    return known == mpi_role::launcher;
}

}  // namespace halcyon::calls
