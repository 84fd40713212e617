#include "offload/client/succession.hpp"

#include <poll.h>

#include <algorithm>
#include <climits>

#include "base/clock.hpp"
#include "base/unix_socket.hpp"
#include "offload/segment/session_document.hpp"

namespace halcyon::offload {
namespace {

/// A killed server that has not ended after this time is asked about again.
constexpr int end_patience_ms = 20'000;
/// Appointments, of as long as one may take, of which nothing may come before a client that does not get its turn
/// gives up.
constexpr int64_t hopeless = 3;
constexpr int64_t look_again_ns = 20'000'000;

}  // namespace

result<descriptor> succession::take_name(const std::string& session) {
    return listen_abstract(succession_name(session), 0);
}

std::optional<server_connection> succession::after(uint32_t ended) {
    tenure_word& word = segment_.header().tenure;
    while (!stopped()) {
        const uint32_t progress = segment_.header().progress.load(std::memory_order_acquire);
        const tenure now = word.load();
        if (now.now == tenure::phase::abandoned) return std::nullopt;
        // A server that came and has ended in order meanwhile needs no successor.
        if (segment_.header().state.load(std::memory_order_acquire) == server_state::finished) return std::nullopt;
        if (now.now == tenure::phase::serving && now.generation > ended) {
            if (auto server = meet(now.generation, ended)) return server;
            if (ended >= now.generation) continue;
        } else {
            std::optional<server_connection> next;
            switch (take_turn(ended, next)) {
                case turn::done:
                    return next;
                case turn::again:
                    continue;
                case turn::lost:
                    break;
            }
        }
        if (is_stuck(now, ended)) abandon(now);
        if (word.load() == now) futex_wait(segment_.header().progress, progress, look_again_ns);
    }
    return std::nullopt;
}

/// `lost`: another client has its turn, or this process lacks descriptors or memory for now. `again`: what happened
/// meanwhile has to be looked at first.
succession::turn succession::take_turn(uint32_t& ended, std::optional<server_connection>& next) {
    const auto held = take_name(about_.session);
    if (!held) return turn::lost;
    tenure_word& word = segment_.header().tenure;
    const tenure now = word.load();
    if (now.now == tenure::phase::abandoned) return turn::done;
    if (now.generation > ended) {
        // Serves by now, or was appointed by a client that ended in the middle of it.
        next = meet(now.generation, ended);
        if (next) return turn::done;
        return ended >= now.generation ? turn::again : turn::lost;
    }
    if (now.generation < ended || now.generation > static_cast<uint32_t>(about_.max_restarts)) {
        abandon(now);
        return turn::again;
    }
    const tenure appointed = now.successor();
    if (!word.change(now, appointed)) return turn::again;
    segment_.announce_progress();
    if (start_server(about_.environment, about_.session, appointed.generation, about_.patience_ms(), stop_))
        next = meet(appointed.generation, ended);
    else
        ended = appointed.generation;
    if (next) return turn::done;
    return ended >= appointed.generation ? turn::again : turn::lost;
}

/// Brings the segment to a server that was appointed, and waits until it serves. Null: the session ends, this process
/// lacks what it takes for now, or, and then `ended` says so, that server has ended or cannot claim any more.
std::optional<server_connection> succession::meet(uint32_t generation, uint32_t& ended) {
    auto server = server_connection::open(about_.session, generation);
    if (!server) {
        if (server_connection::says_ended(server.why())) ended = generation;
        return std::nullopt;
    }
    hello h;
    h.client = about_.client;
    h.purpose = hello::purpose_kind::bring_segment;
    const int luggage[] = {segment_.fd(), document_};
    if (const auto sent = server->send(h, luggage); !sent) {
        if (server_connection::says_ended(sent.why()) && server->end(end_patience_ms, stop_)) ended = generation;
        return std::nullopt;
    }
    if (server->receive(about_.patience_ms(), stop_) && wait_until_it_serves(*server)) return std::move(*server);
    // Given up: nothing is done in its place before it has ended, or as long as it can still claim.
    while (!stopped()) {
        if (server->end(end_patience_ms, stop_)) break;
        const tenure now = segment_.header().tenure.load();
        if (now.generation != generation || now.now == tenure::phase::appointed) break;
    }
    if (!stopped()) ended = generation;
    return std::nullopt;
}

bool succession::wait_until_it_serves(const server_connection& server) const {
    const int64_t deadline = monotonic_ns() + about_.patience.count();
    segment_header& h = segment_.header();
    while (!stopped() && !server.has_ended() && monotonic_ns() < deadline) {
        const uint32_t progress = h.progress.load(std::memory_order_acquire);
        const tenure now = h.tenure.load();
        if (now.generation != server.generation()) return false;
        if (now.now == tenure::phase::serving) return true;
        futex_wait(h.progress, progress, look_again_ns);
    }
    return false;
}

/// Whether nothing has come of the appointment for long, and no server can be at work on the segment.
bool succession::is_stuck(const tenure& now, uint32_t ended) {
    if (!(now == seen_)) {
        seen_ = now;
        seen_since_ns_ = monotonic_ns();
    }
    const bool nobody_at_work = now.now == tenure::phase::appointed || now.generation <= ended;
    return nobody_at_work && monotonic_ns() - seen_since_ns_ > hopeless * about_.patience.count();
}

int succession::about::patience_ms() const {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    return static_cast<int>(std::clamp<int64_t>(ms, 1, INT_MAX));
}

int succession::about::first_patience_ms() const {
    constexpr int least_ms = 30'000;  // a busy node, a cold file system
    return std::max(patience_ms(), least_ms);
}

bool succession::stopped() const {
    pollfd p{stop_, POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
}

void succession::abandon(const tenure& now) {
    if (segment_.header().tenure.change(now, now.with(tenure::phase::abandoned))) segment_.announce_progress();
}

}  // namespace halcyon::offload
