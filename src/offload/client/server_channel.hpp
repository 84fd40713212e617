#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "offload/client/block_room.hpp"
#include "offload/client/open_iteration.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/silence.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// What one client tells its server by events, and how it waits for that server: for room in the ring or the buffer,
/// and for what it asked for. While it waits it measures the server's silence, and has one that hangs ended.
///
/// Used by one thread at a time, the producer of the client's event ring. System calls are made only to wake a server
/// that sleeps, and to wait.
class server_channel {
  public:
    /// `complain`: what to tell the user about a server that takes long, or is silent.
    server_channel(const segment& shared, uint32_t client, server_link& link, std::chrono::nanoseconds hang_timeout,
                   std::function<void(const std::string&)> complain, open_iteration& now);

    /// Waits while the ring is full. Failure (unavailable): as for still_served(). Where the last server is lost
    /// meanwhile the event is dropped: the states of the blocks say enough.
    result<void> push(const event_record& e) {
        if (events_.push(e) || push_when_there_is_room(e)) return count(e);
        return still_served();
    }
    /// Of a block that will not come: to the server, and to whoever comes after it.
    result<void> push_absence(event_kind kind, const variable& v, int block, absence::cause why);
    /// Wakes the server. Called when the time of a call has been taken: the bell's fence waits until the server's core
    /// has let go of the event's line, and reading the clock fills that time. A wake-up counts as time of the call, as
    /// what the simulation sees next.
    void ring(bool (doorbell::*how)()) {
        if ((segment_.header().bell.*how)()) now_.add_time_since_last_call();
    }

    /// Failure (unavailable): the server lives, but has given this client up.
    [[nodiscard]] result<void> still_served() const;
    /// A wait begins; it may consist of several sleeps.
    void begin_wait() { silence_.begin(); }
    /// Sleeps until the server made progress after it was `seen`, or `most_ns` have passed.
    void sleep_until_progress(uint32_t seen, int64_t most_ns = patience_ns);
    /// One sleep of a client that needs room. Failure (unavailable): as for still_served().
    result<void> wait_for_room(block_room& room);
    /// Waits until `reached()`; rings the server in each round. False: `alone()` came true before.
    template <class Reached, class Alone>
    bool wait_until(Reached reached, Alone alone) {
        const segment_header& h = segment_.header();
        begin_wait();
        while (true) {
            const uint32_t seen = h.progress.load(std::memory_order_acquire);
            if (reached()) return true;
            segment_.header().bell.ring();
            if (alone()) return false;
            sleep_until_progress(seen);
        }
    }

    /// How many signals were told to a server.
    [[nodiscard]] int64_t signals_sent() const { return signals_sent_; }

    /// How long a waiting client sleeps before it looks again whether the server still lives.
    static constexpr int64_t patience_ns = 50'000'000;

  private:
    bool push_when_there_is_room(const event_record& e);
    result<void> count(const event_record& e) {
        if (e.kind == event_kind::signal) ++signals_sent_;
        return {};
    }

    const segment& segment_;
    uint32_t client_;
    client_page& page_;
    server_link& link_;
    event_ring::producer events_;
    silence silence_;
    open_iteration& now_;
    int64_t signals_sent_ = 0;
};

}  // namespace halcyon::offload
