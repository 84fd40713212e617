#include "offload/server/world_membership.hpp"

#include <string>

namespace halcyon::offload {
namespace {

failure needs_world(const std::string& what, const std::string& otherwise) {
    return {error_kind::config,
            what +
                " needs all servers of the job in one server world; start the simulation with "
                "`halcyon run --servers-per-node 1 -- …`, or " +
                otherwise,
            0};
}

}  // namespace

result<void> world_membership::check(const model& data, const job_events* job, const shared_files* files,
                                     bool takes_over) {
    for (const event& e : data.events)
        if (e.scope == scope::job && job == nullptr && !takes_over)
            return needs_world(e.scope_where + ": 'job'", "use scope 'node'");
    for (const store& kept : data.stores)
        if (kept.collective && files == nullptr && job != nullptr)
            return failure{error_kind::config,
                           kept.collective_where +
                               ": this halcyon-server-world was built without an HDF5 for its MPI; build "
                               "Halcyon with one, or leave it out: the view shows the files of all nodes as one",
                           0};
    for (const store& kept : data.stores)
        if (kept.collective && files == nullptr && !takes_over)
            return needs_world(kept.collective_where + ": a file that all servers write together",
                               "leave it out: the view shows the files of all nodes as one");
    return {};
}

}  // namespace halcyon::offload
