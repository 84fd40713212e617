#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// Everything that was dropped, refused or timed out, and what was done, since the coordinator's start.
struct counts {
    // Done.
    uint64_t messages = 0;
    uint64_t registrations = 0;  ///< of applications
    uint64_t phases = 0;
    uint64_t grants = 0;    ///< turns that began
    uint64_t renewals = 0;  ///< of leases
    uint64_t standing = 0;
    uint64_t recalls = 0;
    uint64_t decisions = 0;
    uint64_t positions = 0;    ///< that their searches looked at
    uint64_t bytes_moved = 0;  ///< as agents told
    uint64_t reservations = 0;
    uint64_t ended_jobs = 0;  ///< by administrators
    uint64_t expired_reservations = 0;
    // Refused.
    uint64_t refused_not_json = 0;
    uint64_t refused_unknown_type = 0;
    uint64_t refused_wrong_field = 0;
    uint64_t refused_version = 0;
    uint64_t refused_claims = 0;         ///< of another one's job
    uint64_t refused_unregistered = 0;   ///< messages before `register`
    uint64_t refused_connections = 0;    ///< above a user's limit
    uint64_t refused_registrations = 0;  ///< likewise, or above that of all
    uint64_t refused_rate = 0;           ///< connections closed for too many messages
    uint64_t refused_operators = 0;      ///< what others than administrators asked that only these may
    // Dropped.
    uint64_t dropped_answers = 0;   ///< `stopping` and `stopped` for no such recall
    uint64_t dropped_releases = 0;  ///< of no such phase
    uint64_t dropped_progress = 0;  ///< of no such phase
    uint64_t dropped_leases = 0;    ///< shown, but not accepted
    uint64_t dropped_targets = 0;   ///< lists of targets beyond a user's limit
    uint64_t unasked_progress = 0;  ///< bytes moved without a lease, or under a void one
    // Timed out.
    uint64_t lost_connections = 0;  ///< without `withdraw`
    uint64_t lost_holders = 0;      ///< turns that ended since all agents were gone
    uint64_t silent_agents = 0;     ///< closed
    uint64_t stalled_holders = 0;   ///< lost their turn since they moved nothing
    uint64_t overdue_stops = 0;     ///< lost their lease since they did not stop in time
    uint64_t own_pauses = 0;        ///< times the coordinator was not run in time
    double own_pauses_s = 0;        ///< in all
};

/// Every count with its name and what it says, for metrics, `top` and tests: the one list of them.
template <class Visitor>
void each_count(const counts& c, Visitor&& visit) {
    visit("messages", c.messages, "Messages received");
    visit("registrations", c.registrations, "Applications registered");
    visit("phases", c.phases, "I/O phases begun");
    visit("grants", c.grants, "Turns begun");
    visit("renewals", c.renewals, "Leases renewed");
    visit("standing", c.standing, "Standing leases given");
    visit("recalls", c.recalls, "Leases called back");
    visit("decisions", c.decisions, "Decisions made");
    visit("search_positions", c.positions, "Positions that searches of decisions looked at");
    visit("bytes_moved", c.bytes_moved, "Bytes moved, as agents reported");
    visit("reservations", c.reservations, "Jobs reserved for their users");
    visit("ended_jobs", c.ended_jobs, "Jobs ended by administrators");
    visit("expired_reservations", c.expired_reservations, "Jobs reserved whose end was never told");
    visit("refused_not_json", c.refused_not_json, "Messages refused: not JSON");
    visit("refused_unknown_type", c.refused_unknown_type, "Messages refused: unknown type");
    visit("refused_wrong_field", c.refused_wrong_field, "Messages refused: wrong field");
    visit("refused_version", c.refused_version, "Agents refused: other version of the protocol");
    visit("refused_claims", c.refused_claims, "Agents refused: claimed a job of somebody else");
    visit("refused_unregistered", c.refused_unregistered, "Messages refused: sent before register");
    visit("refused_connections", c.refused_connections, "Connections refused: user has too many");
    visit("refused_registrations", c.refused_registrations, "Applications refused: too many");
    visit("refused_rate", c.refused_rate, "Connections closed: too many messages");
    visit("refused_operators", c.refused_operators, "Questions refused: not from an administrator");
    visit("dropped_answers", c.dropped_answers, "Answers dropped: no such recall");
    visit("dropped_releases", c.dropped_releases, "Releases dropped: no such phase");
    visit("dropped_progress", c.dropped_progress, "Progress dropped: no such phase");
    visit("dropped_leases", c.dropped_leases, "Leases shown by agents and not accepted");
    visit("dropped_targets", c.dropped_targets, "Lists of storage targets dropped: user lists too many");
    visit("unasked_progress", c.unasked_progress, "Reports of bytes moved without a valid lease");
    visit("lost_connections", c.lost_connections, "Connections lost");
    visit("lost_holders", c.lost_holders, "Turns ended: application gone");
    visit("silent_agents", c.silent_agents, "Agents closed: silent");
    visit("stalled_holders", c.stalled_holders, "Turns ended: nothing moved");
    visit("overdue_stops", c.overdue_stops, "Leases ended: application did not stop in time");
    visit("own_pauses", c.own_pauses, "Times the coordinator itself was not run in time");
    visit("own_pauses_s", c.own_pauses_s, "Seconds the coordinator itself was not run in time");
}

}  // namespace halcyon::coordinate
