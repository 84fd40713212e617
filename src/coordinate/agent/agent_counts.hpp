#pragma once

#include <cstdint>
#include <string_view>

namespace halcyon::coordinate {

/// What an agent refused, dropped or gave up, for the run's summary.
struct agent_counts {
    uint64_t phases = 0;
    uint64_t grants = 0;
    uint64_t recalls = 0;
    uint64_t refused_fences = 0;  ///< grants, or coordinators, with a fencing number below one that was seen
    uint64_t stale_grants = 0;    ///< of phases that are over
    uint64_t voided = 0;          ///< leases that the coordinator took away
    uint64_t silences = 0;        ///< times that the coordinator was not heard for too long
    uint64_t lost_connections = 0;
    uint64_t refusals = 0;      ///< times that the coordinator refused this agent; not of daemons that stand by
    uint64_t errors = 0;        ///< messages that the coordinator did not understand
    uint64_t unsent = 0;        ///< messages that could not be written: something in them is out of its range
    uint64_t stops_behind = 0;  ///< stops that did not wait any longer for an aggregator between rounds
    uint64_t handed_back = 0;   ///< turns given back since the application waited at another file system
    bool operator==(const agent_counts&) const = default;
};

/// Of each_count: what belongs to any run.
constexpr bool is_ordinary(std::string_view count) {
    return count == "phases" || count == "grants" || count == "recalls" || count == "handed_back";
}

template <class Visitor>
void each_count(const agent_counts& of, Visitor visit) {
    visit("phases", of.phases);
    visit("grants", of.grants);
    visit("recalls", of.recalls);
    visit("refused_fences", of.refused_fences);
    visit("stale_grants", of.stale_grants);
    visit("voided", of.voided);
    visit("silences", of.silences);
    visit("lost_connections", of.lost_connections);
    visit("refusals", of.refusals);
    visit("errors", of.errors);
    visit("unsent", of.unsent);
    visit("stops_behind", of.stops_behind);
    visit("handed_back", of.handed_back);
}

}  // namespace halcyon::coordinate
