#pragma once

#include <utility>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/coordinator/effects.hpp"
#include "coordinate/coordinator/job.hpp"

namespace halcyon::coordinate {

/// What is to be done and what was, until advance() hands it out.
struct outbox {
    effects todo;
    counts counted;

    void send(connection_id to, from_coordinator message) {
        if (to != 0) todo.messages.push_back({to, std::move(message)});
    }
    void send_all(const job& to, const from_coordinator& message) {
        for (const agent& one : to.agents) send(one.connection, message);
    }
};

}  // namespace halcyon::coordinate
