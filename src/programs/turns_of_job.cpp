#include "programs/turns_of_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/detached_start.hpp"
#include "calls/state/held_signals.hpp"
#include "coordinate/client/page_access.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "coordinate/storing/job_turn.hpp"

namespace halcyon {
namespace {

int milliseconds_of(const char* name, int usual) {
    const long set = std::strtol(variable_or_nothing(name).c_str(), nullptr, 10);
    return set > 0 ? static_cast<int>(std::min(set, 600'000L)) : usual;
}

std::unique_ptr<turn> without(const std::string& why) {
    return std::make_unique<turns_not_taken>("turns: coordinator: files are stored without turns: " + why);
}

}  // namespace

std::unique_ptr<turn> turns_of_job() {
    const coordinate::job_identity job = coordinate::job_identity::of_environment();
    const std::string mounts = variable_or_nothing("HALCYON_COORDINATORS");
    if (mounts.empty() || job.name[0] == '\0')
        return without("no coordinator is known; start the simulation by `halcyon run --coordinate`");
    const std::string facts = variable_or_nothing("HALCYON_TRACE_DIR");
    const auto agent = find_installed("halcyon-agent", variable_or_nothing("HALCYON_AGENT"),
                                      reinterpret_cast<const void*>(&turns_of_job));
    if (!agent) return without("no halcyon-agent found; looked for " + agent.why().message);
    std::array<char, 400> complaint{};
    coordinate::page* shared = nullptr;
    {
        const calls::held_signals no_harm;
        shared = coordinate::page_access::open({job, agent->c_str(), mounts.c_str(), facts.c_str(),
                                                milliseconds_of("HALCYON_COORDINATE_PATIENCE_MS", 1000)},
                                               complaint.data(), complaint.size());
    }
    if (shared == nullptr) return without(complaint.data());
    const int pid = ::getpid();
    coordinate::process_slot* const slot =
        coordinate::claim_slot(*shared, coordinate::process_slot::owner_of(pid, coordinate::start_of_process(pid)));
    if (slot == nullptr)
        return without("the job has more than " + std::to_string(coordinate::page::most_processes) +
                       " processes on this node");
    return std::make_unique<coordinate::job_turn>(*shared, *slot, facts);
}

}  // namespace halcyon
