#include "offload/client/server_process.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace halcyon::offload {
namespace {

constexpr uint32_t first_generation = 1;

/// Threads that are started while this lives take no signals: these are for the simulation.
class without_signals {
  public:
    without_signals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    without_signals(const without_signals&) = delete;
    without_signals& operator=(const without_signals&) = delete;
    ~without_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

}  // namespace

result<server_connection::reply> server_process::greet(hello::purpose_kind purpose, std::span<const int> luggage) {
    auto server = server_connection::open(about_.session, first_generation);
    if (!server) return server.why();
    hello h;
    h.client = about_.client;
    h.purpose = purpose;
    if (auto sent = server->send(h, luggage); !sent) return sent.why();
    auto reply = server->receive(about_.first_patience_ms(), -1);
    if (reply) server_ = std::move(*server);
    return reply;
}

result<std::unique_ptr<server_process>> server_process::bring(succession::about a, segment& shared,
                                                              shared_memory document) {
    std::unique_ptr<server_process> p(new server_process(std::move(a)));
    const int luggage[] = {shared.fd(), document.fd()};
    if (auto done = p->greet(hello::purpose_kind::bring_segment, luggage); !done) return done.why();
    p->document_ = std::move(document);
    return p;
}

result<server_process::received> server_process::join(succession::about a) {
    received r;
    r.link.reset(new server_process(std::move(a)));
    auto reply = r.link->greet(hello::purpose_kind::join, {});
    if (!reply) return reply.why();
    if (!reply->segment || !reply->document)
        return system_failure("taking the shared memory from the server (see ulimit -n)", EMFILE);
    auto document = shared_memory::map(std::move(reply->document), 0, false);
    if (!document) return document.why();
    r.link->document_ = std::move(*document);
    r.segment = std::move(reply->segment);
    return r;
}

server_process::~server_process() {
    stop_watching();
}

result<void> server_process::watch(segment& shared) {
    segment_ = &shared;
    stop_ = descriptor(::eventfd(0, EFD_CLOEXEC));
    if (!stop_) return system_failure("eventfd", errno);
    const without_signals none_for_the_watcher;
    try {
        watcher_ = std::thread([this] { run(); });
        // Whoever looks at the threads of a simulation sees whose this one is.
        ::pthread_setname_np(watcher_.native_handle(), "halcyon-watch");
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

bool server_process::has_server() {
    const std::lock_guard lock(connection_);
    return !server_.has_ended();
}

result<void> server_process::share_spill_file(int fd) {
    const std::lock_guard lock(connection_);
    spill_fd_ = fd;
    hand_over_spill_file();
    return {};
}

/// A server that just died is no failure here: its successor is told by adopt().
void server_process::hand_over_spill_file() const {
    hello h;
    h.client = about_.client;
    h.purpose = hello::purpose_kind::spill;
    static_cast<void>(server_.send(h, std::span(&spill_fd_, 1)));
}

bool server_process::end_server(uint32_t generation) {
    const std::lock_guard lock(connection_);
    if (server_.generation() != generation || !server_.is_in_reach()) return false;
    static_cast<void>(server_.end(0, -1));
    return true;
}

result<descriptor> server_process::take_turn() {
    return succession::take_name(about_.session);
}

void server_process::run() {
    ::pthread_setname_np(::pthread_self(), "halcyon-watch");
    segment_header& h = segment_->header();
    succession next(about_, *segment_, document_.fd(), stop_.get());
    while (true) {
        // Only this thread changes server_: it may read without the lock.
        pollfd waits[] = {{stop_.get(), POLLIN, 0}, {server_.fd(), POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0) continue;
        if (waits[0].revents != 0) return;
        if (h.state.load(std::memory_order_acquire) == server_state::finished) return;
        auto server = next.after(server_.generation());
        if (!server) {
            if (h.state.load(std::memory_order_acquire) == server_state::finished) return;
            available_.store(false, std::memory_order_release);
            segment_->announce_progress();
            return;
        }
        adopt(std::move(*server));
    }
}

void server_process::adopt(server_connection next) {
    const std::lock_guard lock(connection_);
    server_ = std::move(next);
    if (spill_fd_ >= 0) hand_over_spill_file();
}

}  // namespace halcyon::offload
