#include "offload/server/connections.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/unix_socket.hpp"
#include "offload/segment/protocol.hpp"

namespace halcyon::offload {
namespace {

/// Strangers can connect as often as they like: neither descriptors nor the log may run full of them.
constexpr size_t most_strangers = 64;
constexpr int64_t complaint_interval_ns = 1'000'000'000, deaf_ns = 100'000'000;
/// Whoever steers can send as often as it likes, too: what is more than this waits in its socket, and so does the
/// sender.
constexpr size_t most_steerers = 8, most_steering_bytes = 8192;
constexpr rate_limit steering_rate{100, 20};
constexpr int steering_pause_ms = 10;

result<hello> read_hello(const message& m) {
    hello h;
    if (m.bytes.size() != sizeof h)
        return failure{error_kind::usage, "message of " + std::to_string(m.bytes.size()) + " bytes", 0};
    std::memcpy(&h, m.bytes.data(), sizeof h);
    if (h.magic != protocol_magic || h.version != protocol_version)
        return failure{error_kind::usage, "a client speaks protocol " + std::to_string(h.version), 0};
    return h;
}

descriptor open_process(int socket) {
    const auto pid = peer_process(socket);
    return descriptor(pid ? static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)) : -1);
}

}  // namespace

connections::connections(descriptor listening)
    : listening_(std::move(listening)), steering_tokens_(steering_rate, monotonic_ns()) {}

connections::~connections() {
    stop();
}

void connections::stop() {
    if (!thread_.joinable()) return;
    const uint64_t one = 1;
    static_cast<void>(!::write(stop_.get(), &one, sizeof one));
    thread_.join();
}

result<connections::luggage> connections::receive_segment(int timeout_ms) {
    const int64_t end = monotonic_ns() + int64_t{timeout_ms} * 1'000'000;
    while (true) {
        const int64_t left_ms = (end - monotonic_ns()) / 1'000'000;
        pollfd p{listening_.get(), POLLIN, 0};
        if (left_ms <= 0 || ::poll(&p, 1, static_cast<int>(left_ms)) <= 0)
            return failure{error_kind::unavailable, "no client came with a segment", 0};
        auto socket = accept_checked(listening_.get());
        if (!socket) continue;
        auto m = receive_message(socket->get(), sizeof(hello), 1000);
        if (!m) continue;
        const auto h = read_hello(*m);
        // Others that come first are closed: they try again until they find the segment here.
        if (!h || h->purpose != hello::purpose_kind::bring_segment || m->descriptors.size() != 2) continue;
        bringer_.process = open_process(socket->get());
        bringer_.socket = std::move(*socket);
        bringer_.client = h->client;
        return luggage{std::move(m->descriptors[0]), std::move(m->descriptors[1]), h->client};
    }
}

result<void> connections::serve(uint32_t clients, uint32_t generation, int segment, int document, listener l) {
    clients_ = clients;
    generation_ = generation;
    segment_ = segment;
    document_ = document;
    listener_ = std::move(l);
    connected_ = std::vector<std::atomic<bool>>(clients);
    stop_ = descriptor(::eventfd(0, EFD_CLOEXEC));
    if (bringer_.client >= clients)
        return failure{error_kind::usage, "the bringer of the segment is no client of it", 0};
    if (auto done = welcome_peer(bringer_); !done) return done;
    bringer_.greeted = true;
    connected_[bringer_.client].store(true, std::memory_order_release);
    listener_.joined(bringer_.client);
    peers_.push_back(std::move(bringer_));
    thread_ = std::thread([this] { run(); });
    return {};
}

result<void> connections::welcome_peer(const peer& p) const {
    welcome w;
    w.generation = generation_;
    const int both[] = {segment_, document_};
    return send_message(p.socket.get(), std::as_bytes(std::span(&w, 1)), both);
}

void connections::refuse(const failure& why) {
    send_refusal(bringer_, why);
}

void connections::send_refusal(const peer& p, const failure& why) {
    welcome w;
    w.generation = 0;
    w.refused = static_cast<uint32_t>(why.kind);
    std::vector<std::byte> message(sizeof w);
    std::memcpy(message.data(), &w, sizeof w);
    for (const char c : why.message.substr(0, most_reason_bytes)) message.push_back(static_cast<std::byte>(c));
    static_cast<void>(send_message(p.socket.get(), message, {}));
}

/// Whether something waits to be received: of a process that has ended, what it sent last.
bool connections::is_readable(const descriptor& socket) {
    pollfd now{socket.get(), POLLIN, 0};
    return socket && ::poll(&now, 1, 0) == 1;
}

void connections::run() {
    while (true) {
        const int64_t deaf_ns_left = deaf_until_ns_ - monotonic_ns();
        const bool deaf = deaf_ns_left > 0;
        const bool no_steering = steering_tokens_.tokens(steering_rate, monotonic_ns()) < 1;
        bool pauses = false;
        std::vector<pollfd> waits{{stop_.get(), POLLIN, 0}, {deaf ? -1 : listening_.get(), POLLIN, 0}};
        for (const peer& p : peers_) {
            const bool waits_itself = p.steers && (no_steering || !p.unread.expired());
            pauses = pauses || waits_itself;
            waits.push_back({waits_itself ? -1 : p.socket.get(), POLLIN, 0});
            waits.push_back({p.process.get(), POLLIN, 0});
        }
        const int deaf_ms = deaf ? static_cast<int>(deaf_ns_left / 1'000'000) + 1 : -1;
        if (::poll(waits.data(), waits.size(), pauses ? steering_pause_ms : deaf_ms) < 0) continue;
        if (waits[0].revents != 0) return;
        std::vector<peer> remaining;
        for (size_t i = 0; i < peers_.size(); ++i) {
            peer& p = peers_[i];
            bool keep = true;
            if (waits[2 + 2 * i].revents != 0) keep = handle(p);
            if (waits[3 + 2 * i].revents != 0) {
                while (!p.steers && is_readable(p.socket) && handle(p)) {
                }
                keep = false;
            }
            if (keep)
                remaining.push_back(std::move(p));
            else if (p.greeted) {
                connected_[p.client].store(false, std::memory_order_release);
                listener_.ended(p.client);
            } else if (p.steers) {
                listener_.steerer_left(p.steers);
            }
        }
        peers_ = std::move(remaining);
        if (waits[1].revents != 0) accept_one();
    }
}

void connections::accept_one() {
    auto socket = accept_checked(listening_.get());
    if (!socket) {
        const int why = socket.why().system_errno;
        if (why == EMFILE || why == ENFILE || why == ENOMEM || why == ENOBUFS)
            deaf_until_ns_ = monotonic_ns() + deaf_ns;
        complain("connection refused: " + socket.why().message);
        return;
    }
    // The oldest stranger goes: a client says who it is at once.
    const auto is_stranger = [](const peer& p) { return !p.greeted && !p.steers; };
    if (static_cast<size_t>(std::count_if(peers_.begin(), peers_.end(), is_stranger)) >= clients_ + most_strangers)
        peers_.erase(std::find_if(peers_.begin(), peers_.end(), is_stranger));
    peer p;
    p.process = open_process(socket->get());
    p.socket = std::move(*socket);
    peers_.push_back(std::move(p));
}

/// To the log, once in a while: others decide how often there is a reason.
void connections::complain(const std::string& what) {
    ++complaints_unsaid_;
    const int64_t now = monotonic_ns();
    if (complained_ns_ != 0 && now - complained_ns_ < complaint_interval_ns) return;
    complained_ns_ = now;
    const uint64_t others = std::exchange(complaints_unsaid_, 0) - 1;
    listener_.log(what + (others > 0 ? ", and " + std::to_string(others) + " more like it" : ""));
}

/// False: the peer is gone, or is sent away.
bool connections::handle(peer& p) {
    if (p.steers) return take_steering(p);
    auto m = receive_message(p.socket.get(), sizeof(hello), 0);
    if (!m && m.why().kind == error_kind::unavailable) return true;
    if (!m && m.why().kind != error_kind::usage) return closed(p);
    if (m && m->bytes.empty()) return closed(p);
    const auto h = m ? read_hello(*m) : result<hello>(m.why());
    if (!h || h->client >= clients_) {
        complain("message ignored: " + (h ? "no such client" : h.why().message));
        return p.greeted;
    }
    if (h->purpose == hello::purpose_kind::spill) {
        if (p.greeted)
            listener_.brought_spill(p.client, m->descriptors.empty() ? descriptor() : std::move(m->descriptors[0]));
        return true;
    }
    if (h->purpose == hello::purpose_kind::steer && !p.greeted) return begin_steering(p);
    if (p.greeted) {
        complain("message ignored: client " + std::to_string(p.client) + " says hello again, as client " +
                 std::to_string(h->client));
        return true;
    }
    if (is_connected(h->client)) {
        const failure why{error_kind::usage,
                          "client " + std::to_string(h->client) + " of this session has joined already", 0};
        complain("connection refused: " + why.message);
        send_refusal(p, why);
        return false;
    }
    p.client = h->client;
    if (!welcome_peer(p)) return false;
    p.greeted = true;
    connected_[p.client].store(true, std::memory_order_release);
    listener_.joined(p.client);
    return true;
}

/// False: there is no room for one more.
bool connections::begin_steering(peer& p) {
    std::erase_if(steerers_, [](const auto& one) { return one.expired(); });
    auto steers = steering_peer::of(p.socket);
    if (!steers || steerers_.size() >= most_steerers || !steering_tokens_.take(steering_rate, 1, monotonic_ns())) {
        const failure why =
            steers ? failure{error_kind::unavailable,
                             "as many processes as may steer this run, or as many messages as it takes in a "
                             "second, are under way; try again",
                             0}
                   : steers.why();
        complain("connection refused: " + why.message);
        const std::string said = steering_refusal(why);
        static_cast<void>(send_message(p.socket.get(), std::as_bytes(std::span(said)), {}));
        return false;
    }
    p.steers = std::make_shared<const steering_peer>(std::move(*steers));
    steerers_.push_back(p.steers);
    pass_on(p, {});
    return true;
}

/// False: it is gone, or sends what no message is.
bool connections::take_steering(peer& p) {
    if (!steering_tokens_.take(steering_rate, 1, monotonic_ns())) return true;
    const auto m = receive_message(p.socket.get(), most_steering_bytes, 0);
    if (!m && m.why().kind == error_kind::unavailable) return true;
    if (!m && m.why().kind == error_kind::usage) {
        complain("message ignored: " + m.why().message);
        static_cast<void>(p.steers->send(steering_refusal(m.why())));
        return true;
    }
    if (!m || m->bytes.empty()) return false;
    pass_on(p, {reinterpret_cast<const char*>(m->bytes.data()), m->bytes.size()});
    return true;
}

void connections::pass_on(peer& p, std::string message) {
    auto held = std::make_shared<const std::string>(std::move(message));
    p.unread = held;
    listener_.steered(p.steers, std::move(held));
}

/// The peer's end of the socket is closed. With a pidfd its process tells when it has gone, without one this has to.
bool connections::closed(peer& p) {
    if (!p.process) return false;
    p.socket.reset();
    if (p.greeted) connected_[p.client].store(false, std::memory_order_release);
    return p.greeted;
}

}  // namespace halcyon::offload
