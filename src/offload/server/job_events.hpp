#pragma once

#include <cstdint>
#include <functional>

namespace halcyon::offload {

/// How the servers of a server world handle events of scope `job`: every server sees the same events in the same
/// order (the atomic multicast of Dorier 2014, section 3.2.2). Implemented over MPI in
/// `programs`; a server started alone has none.
class job_events {
  public:
    /// `own`: this server raised it. Own events come in the order in which they were raised.
    using handler = std::function<void(uint32_t event_id, int64_t iteration, bool own)>;

    virtual ~job_events() = default;

    /// This server takes part, as one of `servers` that the session has. Before any raise().
    virtual void begin(int servers) = 0;
    /// Event `event_id` of iteration `iteration`, raised by a client or server; returns at once.
    virtual void raise(uint32_t event_id, int64_t iteration) = 0;
    /// Sets who is told, on a thread of the implementation, once per event and in the common order. Events that came
    /// earlier are kept until then. An empty function: whatever comes is dropped; no call is under way on return.
    virtual void on_event(handler told) = 0;
    /// This server has run `handled` events and will raise no more unless another one comes. Waits. True: that is so
    /// of all servers, for all events, and it is over. False: more events have come; run them and call again.
    [[nodiscard]] virtual bool finish(int64_t handled) = 0;
};

}  // namespace halcyon::offload
