#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/error.hpp"

namespace halcyon::offload {

/// How the servers of a server world handle events of scope `job`: every server sees the same events in the same
/// order (the atomic multicast and the labelled barrier of Dorier 2014, section 3.2.2). Implemented over MPI in
/// `programs`; a server started alone has none.
class job_events {
  public:
    virtual ~job_events() = default;

    /// Event `event_id` of iteration `iteration`, raised by a client or server; returns at once.
    virtual void raise(uint32_t event_id, int64_t iteration) = 0;
    /// This server has reached the label; when all have, each handles it once, at the same place of the order.
    virtual void reach(uint32_t event_id, int64_t iteration) = 0;
    /// Sets who is told, on a thread of the implementation, once per event and in the common order.
    virtual void on_event(std::function<void(uint32_t event_id, int64_t iteration)> handler) = 0;
    /// No more events will be raised here. Returns when that is true of all servers and all events were delivered.
    virtual void finish() = 0;
};

}  // namespace halcyon::offload
