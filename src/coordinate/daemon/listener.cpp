#include "coordinate/daemon/listener.hpp"

#include <sys/epoll.h>

#include <utility>

namespace halcyon::coordinate {
namespace {

constexpr int most_a_round = 256;

}  // namespace

result<std::unique_ptr<listener>> listener::open(event_loop& loop, const socket_address& address,
                                                 const listen_options& options, daemon_counts& counted,
                                                 arrival arrived) {
    auto socket = listening_socket::open(address, options);
    if (!socket) return socket.why();
    std::unique_ptr<listener> made(
        new listener(loop, std::move(*socket), address, options, counted, std::move(arrived)));
    auto watch = made->watch(made->socket_);
    if (!watch) return watch.why();
    made->watch_ = *watch;
    return made;
}

result<event_loop::watch> listener::watch(const listening_socket& socket) {
    return loop_.add(socket.fd(), EPOLLIN, [this](uint32_t) { accept_some(); });
}

std::string listener::look_after() {
    if (socket_.is_in_place()) {
        obstacle_.clear();
        return {};
    }
    const auto done = open_again();
    const std::string before = std::exchange(obstacle_, done ? "" : done.why().message);
    if (!done && before == obstacle_) return {};
    if (!done) return "warning: clients do not find the socket any more, and it cannot be made anew: " + obstacle_;
    ++counted_.reopened_addresses;
    return "listens at " + socket_.address().text() + " again: the file of its socket was gone";
}

result<void> listener::open_again() {
    listen_options at_once = options_;
    at_once.lock_patience = {};
    auto opened = listening_socket::open(asked_for_, at_once);
    if (!opened) return opened.why();
    auto added = watch(*opened);
    if (!added) return added.why();
    accept_some();  // who came before the file was gone
    loop_.remove(watch_);
    watch_ = *added;
    socket_ = std::move(*opened);
    return {};
}

void listener::accept_some() {
    for (int i = 0; i < most_a_round; ++i) {
        auto from = socket_.accept();
        if (!from) {
            ++counted_.refused_descriptors;
            return;
        }
        if (!from->socket) return;
        arrived_(std::move(*from));
    }
}

}  // namespace halcyon::coordinate
