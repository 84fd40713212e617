#include "offload/client/server_process.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <cstring>
#include <system_error>

#include "base/clock.hpp"
#include "base/unix_socket.hpp"
#include "offload/segment/protocol.hpp"

namespace halcyon::offload {
namespace {

constexpr int answer_patience_ms = 20'000;
/// How long the others wait for the client that starts the next server before one of them tries.
constexpr int64_t replacement_patience_ns = 10'000'000'000;

bool process_lives(pid_t pid) {
    return ::kill(pid, 0) == 0 || errno == EPERM;
}

/// The simulation's signals are none of our threads' business: those that are started in the life of this take none.
class blocked_signals {
  public:
    blocked_signals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

}  // namespace

result<void> server_process::connect(uint32_t generation, bool bring_segment, int segment_fd, int document_fd,
                                     received* into) {
    auto socket = connect_abstract(socket_name(membership_.session, generation));
    if (!socket) return socket.why();
    hello h;
    h.client = membership_.client;
    h.purpose = bring_segment ? hello::purpose_kind::bring_segment : hello::purpose_kind::join;
    const int both[] = {segment_fd, document_fd};
    const std::span<const int> luggage = bring_segment ? std::span<const int>(both) : std::span<const int>();
    if (auto sent = send_message(socket->get(), std::as_bytes(std::span(&h, 1)), luggage); !sent)
        return failure{error_kind::unavailable, sent.why().message, sent.why().system_errno};
    auto m = receive_message(socket->get(), sizeof(welcome) + most_reason_bytes, answer_patience_ms);
    if (!m) return m.why();
    welcome w;
    if (m->bytes.size() < sizeof w)
        return failure{error_kind::unavailable, "the server closed the connection; see its log in the output directory",
                       ECONNRESET};
    std::memcpy(&w, m->bytes.data(), sizeof w);
    if (w.refused != 0)
        return failure{
            static_cast<error_kind>(w.refused),
            std::string(reinterpret_cast<const char*>(m->bytes.data() + sizeof w), m->bytes.size() - sizeof w), 0};
    if (w.magic != protocol_magic || w.version != protocol_version || w.generation != generation ||
        m->descriptors.size() != 2)
        return failure{error_kind::unavailable, "the server is of another release", 0};
    if (into != nullptr) {
        into->segment = std::move(m->descriptors[0]);
        auto document = shared_memory::map(std::move(m->descriptors[1]), 0, false);
        if (!document) return document.why();
        document_ = std::move(*document);
    }
    auto pid = peer_process(socket->get());
    if (!pid) return pid.why();
    descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    if (!process) return failure{error_kind::unavailable, "the server died", ECONNRESET};
    const std::lock_guard lock(connection_);
    socket_ = std::move(*socket);
    process_ = std::move(process);
    if (spill_fd_ >= 0) {
        h.purpose = hello::purpose_kind::spill;
        return send_message(socket_.get(), std::as_bytes(std::span(&h, 1)), std::span(&spill_fd_, 1));
    }
    return {};
}

result<std::unique_ptr<server_process>> server_process::bring(membership m, segment& shared, shared_memory document) {
    std::unique_ptr<server_process> p(new server_process(std::move(m)));
    if (auto done = p->connect(1, true, shared.fd(), document.fd(), nullptr); !done) return done.why();
    p->document_ = std::move(document);
    return p;
}

result<server_process::received> server_process::join(membership m) {
    received r;
    r.link.reset(new server_process(std::move(m)));
    if (auto done = r.link->connect(1, false, -1, -1, &r); !done) return done.why();
    return r;
}

const shared_memory& server_process::document() const {
    return document_;
}

server_process::~server_process() {
    stop_watching();
}

result<void> server_process::watch(segment& shared) {
    segment_ = &shared;
    stop_ = descriptor(::eventfd(0, EFD_CLOEXEC));
    const blocked_signals none_for_the_watcher;
    try {
        watcher_ = std::thread([this] { run(); });
    } catch (const std::system_error& why) {
        return system_failure("a thread that watches the server (see ulimit -u and -v)", why.code().value());
    }
    return {};
}

void server_process::stop_watching() {
    if (!watcher_.joinable()) return;
    const uint64_t one = 1;
    static_cast<void>(!::write(stop_.get(), &one, sizeof one));
    watcher_.join();
}

result<void> server_process::share_spill_file(int fd) {
    hello h;
    h.client = membership_.client;
    h.purpose = hello::purpose_kind::spill;
    const std::lock_guard lock(connection_);
    spill_fd_ = fd;
    // A server that just died is no failure here: its successor is told at connect().
    static_cast<void>(send_message(socket_.get(), std::as_bytes(std::span(&h, 1)), std::span(&fd, 1)));
    return {};
}

void server_process::run() {
    segment_header& h = segment_->header();
    while (true) {
        const uint32_t generation = h.generation.load(std::memory_order_acquire);
        int process = -1;
        {
            const std::lock_guard lock(connection_);
            process = process_.get();
        }
        pollfd waits[] = {{stop_.get(), POLLIN, 0}, {process, POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0) continue;
        if (waits[0].revents != 0) return;
        if (h.state.load(std::memory_order_acquire) == server_state::finished) return;
        if (!replace_server(std::max(generation, 1U))) {
            available_.store(false, std::memory_order_release);
            segment_->announce_progress();
            return;
        }
    }
}

/// One client of the node starts the next server, the others wait for it. False: there will be none.
bool server_process::replace_server(uint32_t dead) {
    segment_header& h = segment_->header();
    const int64_t deadline = monotonic_ns() + 3 * replacement_patience_ns;
    int64_t claim_seen_ns = monotonic_ns();
    while (monotonic_ns() < deadline) {
        const uint32_t now = h.generation.load(std::memory_order_acquire);
        if (now > dead) {
            // connect() fails when that one has died too: then it is the next one's turn.
            if (connect(now, false, -1, -1, nullptr)) {
                restarts_.fetch_add(1, std::memory_order_relaxed);
                return true;
            }
            dead = now;
        }
        if (dead >= static_cast<uint32_t>(membership_.max_restarts) + 1) return false;
        uint32_t claimant = h.restart_claim.load(std::memory_order_acquire);
        const bool stale = claimant != 0 && (!process_lives(static_cast<pid_t>(claimant)) ||
                                             monotonic_ns() - claim_seen_ns > replacement_patience_ns);
        if (claimant == 0 || stale) {
            if (h.restart_claim.compare_exchange_strong(claimant, static_cast<uint32_t>(::getpid()))) {
                if (h.generation.load(std::memory_order_acquire) != dead) {
                    h.restart_claim.store(0, std::memory_order_release);
                    continue;
                }
                const uint32_t next = dead + 1;
                auto started = start_server(membership_.environment, membership_.session, next);
                if (started) started = connect(next, true, segment_->fd(), document_.fd(), nullptr);
                if (!started) {
                    // Let the others know that there is no server of this generation either.
                    h.generation.store(next, std::memory_order_release);
                    h.restart_claim.store(0, std::memory_order_release);
                    segment_->announce_progress();
                    dead = next;
                    continue;
                }
                while (h.generation.load(std::memory_order_acquire) < next && monotonic_ns() < deadline) {
                    const uint32_t seen = h.progress.load(std::memory_order_acquire);
                    if (h.generation.load(std::memory_order_acquire) >= next) break;
                    futex_wait(h.progress, seen, 20'000'000);
                    pollfd died{process_.get(), POLLIN, 0};
                    if (::poll(&died, 1, 0) == 1) break;
                }
                restarts_.fetch_add(1, std::memory_order_relaxed);
                return true;
            }
            claim_seen_ns = monotonic_ns();
        }
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (h.generation.load(std::memory_order_acquire) == now) futex_wait(h.progress, seen, 20'000'000);
    }
    return false;
}

}  // namespace halcyon::offload
