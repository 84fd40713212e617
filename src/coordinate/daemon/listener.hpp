#pragma once

#include <functional>
#include <memory>

#include "base/event_loop.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "coordinate/daemon/daemon_counts.hpp"

namespace halcyon::coordinate {

/// An address at which connections are accepted, some of them each round of the loop.
class listener {
  public:
    using arrival = std::function<void(listening_socket::accepted)>;
    /// Failures as listening_socket::open(). `counted` counts connections for which no descriptor was left.
    static result<std::unique_ptr<listener>> open(event_loop& loop, const socket_address& address,
                                                  const listen_options& options, daemon_counts& counted,
                                                  arrival arrived);
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener() { loop_.remove(watch_); }

    [[nodiscard]] const listening_socket& socket() const { return socket_; }
    /// As the configuration wrote it: a port 0 is still 0.
    [[nodiscard]] const socket_address& asked_for() const { return asked_for_; }

  private:
    listener(event_loop& loop, listening_socket socket, const socket_address& asked_for, daemon_counts& counted,
             arrival arrived)
        : loop_(loop),
          socket_(std::move(socket)),
          asked_for_(asked_for),
          counted_(counted),
          arrived_(std::move(arrived)) {}
    void accept_some();

    event_loop& loop_;
    listening_socket socket_;
    socket_address asked_for_;
    daemon_counts& counted_;
    arrival arrived_;
    event_loop::watch watch_ = event_loop::watch::none;
};

}  // namespace halcyon::coordinate
