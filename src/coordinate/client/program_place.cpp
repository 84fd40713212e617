#include "coordinate/client/program_place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/detached_start.hpp"
#include "base/node_identity.hpp"
#include "calls/state/held_signals.hpp"
#include "calls/state/mpi_launch.hpp"
#include "coordinate/client/page_access.hpp"
#include "coordinate/client/patience.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/slot_claim.hpp"

namespace halcyon::coordinate {
namespace {

/// As the launcher or `halcyon run` names the job. A program that was started by neither is a job of its own.
job_identity find_job() {
    job_identity job = job_identity::of_environment();
    if (job.name[0] != '\0') return job;
    const uint64_t launch = calls::mpi_launch::name();
    if (launch != 0)
        std::snprintf(job.name, sizeof job.name, "launch-%016llx", static_cast<unsigned long long>(launch));
    else
        std::snprintf(job.name, sizeof job.name, "%.60s.%d.%llu", host_name().c_str(), ::getpid(),
                      static_cast<unsigned long long>(start_of_process(::getpid())));
    if (variable_or_nothing("HALCYON_JOB_SECRET").empty())
        std::snprintf(job.secret, sizeof job.secret, "unset-%.60s", job.name);
    return job;
}

/// Where calls of this process pass a layer, that takes its place at the first of them, and forgets then what was in it
/// (forget_program_before): this is that call, if there was none before.
void let_layers_start() {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) ::close(fd);
}

}  // namespace

program_place take_place(const job_identity& job, const coordination& by, const void* within) {
    const auto agent = find_installed("halcyon-agent", variable_or_nothing("HALCYON_AGENT"), within);
    if (!agent)
        return {nullptr, nullptr,
                "no halcyon-agent found; looked for " + agent.why().message + "; set HALCYON_AGENT to its path"};
    const std::string facts = variable_or_nothing("HALCYON_TRACE_DIR");
    const int64_t waits_ms = patience_ms(variable_or_nothing("HALCYON_COORDINATE_PATIENCE_MS").c_str());
    std::array<char, 900> complaint{};
    page* shared = nullptr;
    {
        const calls::held_signals no_harm;
        shared = page_access::open(
            {job, agent->c_str(), by.mounts.c_str(), facts.c_str(), waits_ms, by.munge_sockets.c_str()},
            complaint.data(), complaint.size());
    }
    if (shared == nullptr) return {nullptr, nullptr, complaint.data()};
    const int pid = ::getpid();
    process_slot* const slot = claim_slot(*shared, process_slot::owner_of(pid, start_of_process(pid)));
    if (slot == nullptr)
        return {nullptr, nullptr,
                "the job has more than " + std::to_string(page::most_processes) + " processes on this node"};
    note_program(*slot);
    return {shared, slot, {}};
}

program_place take_place_of_program(const coordination& by, const void* within) {
    if (by.mounts.empty()) return {nullptr, nullptr, by.why};
    let_layers_start();
    program_place found = take_place(find_job(), by, within);
    if (found.slot == nullptr) return found;
    if (found.slot->by_itself.layer.load() == 0) {
        for (size_t i = 0; i < found.shared->known_file_systems(); ++i) forget_program_before(*found.slot, i);
        found.slot->told.store(1, std::memory_order_release);  // there is no file of facts to wait for
        ring_agent(*found.shared);
    }
    return found;
}

}  // namespace halcyon::coordinate
