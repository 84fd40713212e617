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
    std::unique_ptr<listener> made(new listener(loop, std::move(*socket), address, counted, std::move(arrived)));
    auto watch = loop.add(made->socket_.fd(), EPOLLIN, [one = made.get()](uint32_t) { one->accept_some(); });
    if (!watch) return watch.why();
    made->watch_ = *watch;
    return made;
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
