#include "coordinate/page/job_identity.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "base/fnv.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/mpi_launch.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;

namespace {

/// "" where none is set.
const char* told(std::initializer_list<const char*> variables) {
    for (const char* variable : variables) {
        const char* const value = std::getenv(variable);
        if (value != nullptr && *value != '\0') return value;
    }
    return "";
}

int64_t number_of(std::initializer_list<const char*> variables) {
    const long long value = std::strtoll(told(variables), nullptr, 10);
    return value > 0 && value <= 1'000'000'000 ? value : 1;
}

uint64_t hash_of(const char* text, uint64_t seed) {
    fnv1a hash(seed);
    hash.add(text);
    return hash.value();
}

bool is_plain(char c) {
    return c > ' ' && c < 127;
}

/// Of a run with a secret of its own. Several runs in one job of a batch system have different secrets, so the run's
/// own name has to be in it; launches of MPI, and steps, within a run differ in their numbers of processes.
void name_of_run(char (&out)[128], const char* run, const char* job, const char* pmix, const char* step) {
    int length = 0;
    if (*job != '\0') length = snprintf(out, sizeof out, "slurm-%.20s.", job);
    length += snprintf(out + length, sizeof out - static_cast<size_t>(length), "%.64s", run);
    char* const rest = out + length;
    const size_t room = sizeof out - static_cast<size_t>(length);
    if (*pmix != '\0')
        snprintf(rest, room, "-%016llx", static_cast<unsigned long long>(hash_of(pmix, calls::mpi_launch::name())));
    else if (*step != '\0')
        snprintf(rest, room, "-%.20s", step);
}

/// Without a secret: of the launch of PMIx, else of the step, else the run's own name.
void name_of_launch(char (&out)[128], const char* run, const char* job, const char* pmix, const char* step) {
    char launch[100];
    if (*pmix != '\0')
        snprintf(launch, sizeof launch, "%.80s-%016llx", pmix,
                 static_cast<unsigned long long>(calls::mpi_launch::name()));
    else
        snprintf(launch, sizeof launch, "%.99s", *job != '\0' && *step != '\0' ? step : run);
    if (*job != '\0')
        snprintf(out, sizeof out, "slurm-%.20s.%s", job, launch);
    else
        snprintf(out, sizeof out, "%s", launch);
}

}  // namespace

job_identity job_identity::of_environment() {
    job_identity found{};
    const char* const given = told({"HALCYON_AGENT_JOB"});
    if (*given != '\0') {
        snprintf(found.name, sizeof found.name, "%s", given);
        snprintf(found.secret, sizeof found.secret, "%s", told({"HALCYON_AGENT_SECRET"}));
        found.processes = number_of({"HALCYON_AGENT_PROCESSES"});
        found.nodes = number_of({"HALCYON_AGENT_NODES"});
        return found;
    }
    const char* const pmix = told({"PMIX_NAMESPACE"});
    const char* const job = told({"SLURM_JOB_ID"});
    const char* const run = told({"HALCYON_JOB"});
    const char* const secret = told({"HALCYON_JOB_SECRET"});
    const char* const step = told({"SLURM_STEP_ID"});
    if (*run != '\0' && *secret != '\0')
        name_of_run(found.name, run, job, pmix, step);
    else
        name_of_launch(found.name, run, job, pmix, step);
    for (char* at = found.name; *at != '\0'; ++at)
        if (!is_plain(*at)) *at = '_';
    if (*secret != '\0')
        snprintf(found.secret, sizeof found.secret, "%.64s", secret);
    else
        snprintf(found.secret, sizeof found.secret, "unset-%016llx",
                 static_cast<unsigned long long>(hash_of(found.name, 0)));
    found.processes = number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
    found.nodes = number_of({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"});
    return found;
}

void job_identity::name_socket(char* out, size_t room) const {
    const auto user = static_cast<uint64_t>(direct::call(SYS_geteuid));
    snprintf(out, room, "halcyon-agent-1-%llu-%016llx%016llx", static_cast<unsigned long long>(user),
             static_cast<unsigned long long>(hash_of(name, user)),
             static_cast<unsigned long long>(hash_of(secret, user)));
}

}  // namespace halcyon::coordinate
