// Jobs that a batch system announces: what its administrator's messages do.
#include <ranges>
#include <utility>
#include <vector>

#include "coordinate/coordinator/coordinator_parts.hpp"

namespace halcyon::coordinate {

/// The application loses turn and place at once, and its agents their connections.
void coordinator::parts::turn_out(job& of, const std::string& reason, moment at) {
    std::vector<std::pair<uint64_t, connection_id>> agents;
    for (const agent& one : of.agents) agents.emplace_back(one.id, one.connection);
    // From the end of the list on: those behind one that leaves move up.
    for (const auto& [id, connection] : std::views::reverse(agents)) {
        phase.leaves(all, of, *registry::find_agent(of, id), at, out, by_user);
        if (connection == 0) continue;
        out.send(connection, refused{reason});
        out.todo.close.push_back(connection);
        close(connection, false);
    }
}

void coordinator::parts::reserve_job(const peer& from, const reserve& what, moment at) {
    const connection_id asked_by = from.id;
    ++out.counted.reservations;
    reserved.add(what, at.now_s);
    const reservation& held = *reserved.covering(what.job);
    std::vector<job*> claimed;
    for (auto& [id, one] : all.jobs())
        if (reserved.covering(one.name) == &held && one.user != held.user) claimed.push_back(&one);
    for (job* const one : claimed) {
        ++out.counted.refused_claims;
        turn_out(*one, reservations::refusal(one->name, held, one->user), at);
    }
    out.send(asked_by, end{});
}

void coordinator::parts::end_job(const peer& from, const ended& what, moment at) {
    const connection_id asked_by = from.id;
    ++out.counted.ended_jobs;
    const bool was_reserved = reserved.end(what.job);
    std::vector<job*> of_it;
    for (auto& [id, one] : all.jobs())
        if (is_of_job(one.name, what.job)) of_it.push_back(&one);
    if (was_reserved || !of_it.empty()) out.send(asked_by, job_over{static_cast<int64_t>(of_it.size())});
    for (job* const one : of_it) turn_out(*one, "job '" + one->name + "' has ended, says the batch system", at);
    out.send(asked_by, end{});
}

}  // namespace halcyon::coordinate
