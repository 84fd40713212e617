#include "offload/client/server_channel.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace halcyon::offload {

server_channel::server_channel(const segment& shared, uint32_t client, server_link& link,
                               std::chrono::nanoseconds hang_timeout, std::function<void(const std::string&)> complain,
                               open_iteration& now)
    : segment_(shared),
      client_(client),
      page_(shared.page(client)),
      link_(link),
      events_(shared.events(client), shared.geometry().event_slots),
      silence_(shared, hang_timeout,
               {std::move(complain), [this](uint32_t generation) { return link_.end_server(generation); }}),
      now_(now) {}

result<void> server_channel::still_served() const {
    if (page_.dead.load(std::memory_order_acquire) == 0) return {};
    return failure{error_kind::unavailable,
                   "the server of this node took this client for dead and stores no more of it; its log says why", 0};
}

void server_channel::sleep_until_progress(uint32_t seen, int64_t most_ns) {
    futex_wait(segment_.header().progress, seen, most_ns);
    silence_.go_on();
}

/// False: the server has given this client up.
bool server_channel::push_when_there_is_room(const event_record& e) {
    const int64_t begin = monotonic_ns();
    segment_header& h = segment_.header();
    begin_wait();
    while (!events_.push(e)) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        page_.waiting.store(1, std::memory_order_release);
        h.bell.ring();
        if (!still_served()) {
            page_.waiting.store(0, std::memory_order_release);
            return false;
        }
        if (!link_.available()) break;
        sleep_until_progress(seen, patience_ns / 50);
    }
    page_.waiting.store(0, std::memory_order_release);
    now_.add_blocked(monotonic_ns() - begin);
    return true;
}

result<void> server_channel::push_absence(event_kind kind, const variable& v, int block, absence::cause why) {
    segment_.absences(client_).add({now_.number(), v.id, block, why}, segment_.geometry().absence_slots);
    event_record e{};
    e.kind = kind;
    e.index = v.id;
    e.iteration = now_.number();
    e.value[0] = block;
    return push(e);
}

result<void> server_channel::wait_for_room(block_room& room) {
    if (auto served = still_served(); !served) return served;
    const int64_t begin = monotonic_ns();
    segment_header& h = segment_.header();
    const uint32_t seen = h.progress.load(std::memory_order_acquire);
    page_.waiting.store(1, std::memory_order_release);
    h.bell.ring();
    room.take_back_released();
    if (link_.available()) sleep_until_progress(seen);
    page_.waiting.store(0, std::memory_order_release);
    now_.add_blocked(monotonic_ns() - begin);
    return {};
}

}  // namespace halcyon::offload
