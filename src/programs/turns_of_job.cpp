#include "programs/turns_of_job.hpp"

#include <string>

#include "base/detached_start.hpp"
#include "coordinate/client/program_place.hpp"
#include "coordinate/storing/job_turn.hpp"

namespace halcyon {
namespace {

std::unique_ptr<turn> without(const std::string& why) {
    return std::make_unique<turns_not_taken>("turns: coordinator: files are stored without turns: " + why);
}

}  // namespace

std::unique_ptr<turn> turns_of_job() {
    const coordinate::job_identity job = coordinate::job_identity::of_environment();
    const std::string mounts = variable_or_nothing("HALCYON_COORDINATORS");
    if (mounts.empty() || job.name[0] == '\0')
        return without("no coordinator is known; start the simulation by `halcyon run --coordinate`");
    const coordinate::coordination by{mounts, variable_or_nothing("HALCYON_MUNGE_SOCKETS"), {}};
    const coordinate::program_place place =
        coordinate::take_place(job, by, reinterpret_cast<const void*>(&turns_of_job));
    if (place.slot == nullptr) return without(place.why);
    return std::make_unique<coordinate::job_turn>(*place.shared, *place.slot, variable_or_nothing("HALCYON_TRACE_DIR"));
}

}  // namespace halcyon
