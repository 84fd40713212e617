#include "offload/client/server_start.hpp"

#include "base/detached_start.hpp"

namespace halcyon::offload {

launch_environment launch_environment::of_this_process() {
    return {variable_or_nothing("HALCYON_SESSION"), variable_or_nothing("HALCYON_SERVER"), environment_outside_job()};
}

result<void> start_server(const launch_environment& environment, const std::string& session, uint32_t generation,
                          int patience_ms, int stop) {
    auto program = find_installed("halcyon-server", environment.server, reinterpret_cast<const void*>(&start_server));
    if (!program)
        return failure{
            error_kind::unavailable,
            "no halcyon-server found; looked for " + program.why().message + "; set HALCYON_SERVER to its path", 0};
    return start_detached(
        {*program, {"--session", session, "--generation", std::to_string(generation)}, environment.variables},
        patience_ms, stop);
}

}  // namespace halcyon::offload
