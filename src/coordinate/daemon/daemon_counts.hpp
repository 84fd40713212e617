#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// What the daemon itself did, refused and dropped since its start; beside `counts`, which are the state machine's.
struct daemon_counts {
    uint64_t accepted = 0;
    uint64_t epochs = 0;  ///< begun
    uint64_t lost_terms = 0;
    uint64_t sent_on = 0;
    uint64_t reloads = 0;
    uint64_t refused_reloads = 0;
    uint64_t refused_identities = 0;
    uint64_t refused_proving = 0;
    uint64_t refused_descriptors = 0;
    uint64_t refused_long_lines = 0;
    uint64_t closed_slow_readers = 0;
    uint64_t closed_buffers = 0;
    uint64_t dropped_outgoing = 0;
    uint64_t dropped_log_lines = 0;
    uint64_t refused_metrics = 0;
    uint64_t reopened_addresses = 0;
};

/// Every count with its name and meaning: the one list of them.
template <class Visitor>
void each_count(const daemon_counts& c, Visitor&& visit) {
    visit("accepted_connections", c.accepted, "Connections accepted");
    visit("epochs", c.epochs, "Epochs begun: starts, elections won, and changes of the configuration");
    visit("lost_terms", c.lost_terms, "Times this daemon led and lost its lease at etcd");
    visit("sent_on", c.sent_on, "Connections refused because another daemon leads");
    visit("reloads", c.reloads, "Times the configuration was read again and taken over");
    visit("refused_reloads", c.refused_reloads, "Times a wrong configuration was refused and the old one kept");
    visit("refused_identities", c.refused_identities, "Connections refused: did not prove whose they are");
    visit("refused_proving", c.refused_proving, "Connections refused: too many were being checked");
    visit("refused_descriptors", c.refused_descriptors, "Connections refused: no descriptor or memory left");
    visit("refused_long_lines", c.refused_long_lines, "Connections closed: message longer than 64 KiB");
    visit("closed_slow_readers", c.closed_slow_readers, "Connections closed: client did not read");
    visit("closed_buffers", c.closed_buffers, "Connections closed: user's messages took too much memory");
    visit("dropped_outgoing", c.dropped_outgoing, "Messages not sent: a value out of the protocol's range");
    visit("dropped_log_lines", c.dropped_log_lines, "Log lines that could not be written, or were too many");
    visit("refused_metrics", c.refused_metrics, "Requests for metrics refused");
    visit("reopened_addresses", c.reopened_addresses, "Sockets whose file was gone and was made anew");
}

}  // namespace halcyon::coordinate
