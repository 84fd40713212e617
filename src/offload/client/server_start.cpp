#include "offload/client/server_start.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "base/coordinated_job.hpp"
#include "base/detached_start.hpp"

namespace halcyon::offload {
namespace {

/// "trace,coordinate" without "coordinate".
std::string without_layer(std::string_view list, std::string_view layer) {
    std::string kept;
    while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(','));
        list.remove_prefix(std::min(one.size() + 1, list.size()));
        if (one.empty() || one == layer) continue;
        if (!kept.empty()) kept += ',';
        kept += one;
    }
    return kept;
}

}  // namespace

launch_environment launch_environment::of_this_process() {
    return {variable_or_nothing("HALCYON_SESSION"), variable_or_nothing("HALCYON_SERVER"), environment_outside_job()};
}

void launch_environment::let_server_take_turns() {
    constexpr std::string_view layers = "HALCYON_LAYERS=";
    std::erase_if(variables, [](const std::string& entry) { return entry.starts_with("HALCYON_AGENT_"); });
    for (std::string& entry : variables)
        if (entry.starts_with(layers))
            entry = std::string(layers) + without_layer(std::string_view(entry).substr(layers.size()), "coordinate");
    auto* const entry = reinterpret_cast<coordinated_job::entry_point*>(::dlsym(RTLD_DEFAULT, "halcyon_io_job"));
    const coordinated_job::identity* const job = entry == nullptr ? nullptr : entry(coordinated_job::version);
    if (job == nullptr) return;
    variables.push_back(std::string("HALCYON_AGENT_JOB=") + job->name);
    variables.push_back(std::string("HALCYON_AGENT_SECRET=") + job->secret);
    variables.push_back("HALCYON_AGENT_PROCESSES=" + std::to_string(job->processes));
    variables.push_back("HALCYON_AGENT_NODES=" + std::to_string(job->nodes));
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
