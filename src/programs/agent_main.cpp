// halcyon-agent: takes the turns of one job on one node. Started by the job's first process on the node, by
// libhalcyon-io; ends when the job's processes are gone.

#include <cstdio>
#include <cstdlib>

#include "base/detached_start.hpp"
#include "base/node_identity.hpp"
#include "coordinate/agent/agent_loop.hpp"

using namespace halcyon;
using namespace halcyon::coordinate;

namespace {

/// Of a variable in milliseconds; `usual` where it makes no sense.
double seconds_of(const char* name, double usual) {
    const double set = std::strtod(variable_or_nothing(name).c_str(), nullptr) / 1000;
    return set > 0 && set <= 86400 ? set : usual;
}

}  // namespace

int main() {
    agent_loop_settings with;
    with.job = job_identity::of_environment();
    auto mounts =
        parse_mounts(variable_or_nothing("HALCYON_COORDINATORS"), variable_or_nothing("HALCYON_MUNGE_SOCKETS"));
    if (with.job.name[0] == '\0' || !mounts || mounts->empty()) {
        const std::string why = mounts ? "HALCYON_COORDINATORS or HALCYON_JOB is not set" : mounts.why().message;
        std::fprintf(
            stderr,
            "halcyon-agent takes the turns of one job on one node. It is started by `halcyon run --coordinate`, "
            "not by hand: %s\n",
            why.c_str());
        tell_starter(failure{error_kind::config, why, 0});
        return 2;
    }
    with.mounts = *mounts;
    with.node = host_name();
    with.account = variable_or_nothing("HALCYON_ACCOUNT");
    if (with.account.empty()) with.account = variable_or_nothing("SLURM_JOB_ACCOUNT");
    with.facts_directory = variable_or_nothing("HALCYON_TRACE_DIR");
    with.page.patience_s = seconds_of("HALCYON_COORDINATE_PATIENCE_MS", with.page.patience_s);
    with.page.pause_s = seconds_of("HALCYON_COORDINATE_PAUSE_MS", with.page.pause_s);
    with.behind_s = seconds_of("HALCYON_COORDINATE_BEHIND_MS", with.behind_s);
    const double longest_wait_s = seconds_of("HALCYON_COORDINATE_STARVATION_MS", 0);
    with.asks_for_starvation = longest_wait_s == 0;
    if (!with.asks_for_starvation) with.page.starvation_s = longest_wait_s;
    detach_from_starter("halcyon-agent");
    return run_agent(with, [](const result<void>& is_ready) { tell_starter(is_ready); }) ? 0 : 1;
}
