#pragma once

#include <functional>
#include <memory>
#include <string>

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
    /// Whether this is a file that somebody may delete; then look_after() is to be called now and then.
    [[nodiscard]] bool has_file() const { return socket_.has_file(); }
    /// Makes the file of a Unix socket anew where it was deleted or moved away: nobody could connect any more. Leaves a
    /// file alone that somebody else has put in its place, unless it is the socket of a dead process; tries again with
    /// the next call. Returns a line for the log where there is news, else nothing. Never waits.
    std::string look_after();
    /// As the configuration wrote it: a port 0 is still 0.
    [[nodiscard]] const socket_address& asked_for() const { return asked_for_; }

  private:
    listener(event_loop& loop, listening_socket socket, const socket_address& asked_for, const listen_options& options,
             daemon_counts& counted, arrival arrived)
        : loop_(loop),
          socket_(std::move(socket)),
          asked_for_(asked_for),
          options_(options),
          counted_(counted),
          arrived_(std::move(arrived)) {}
    result<event_loop::watch> watch(const listening_socket& socket);
    result<void> open_again();
    void accept_some();

    event_loop& loop_;
    listening_socket socket_;
    socket_address asked_for_;
    listen_options options_;
    std::string obstacle_;  ///< why the file could not be made anew, as told last; "": it is there
    daemon_counts& counted_;
    arrival arrived_;
    event_loop::watch watch_ = event_loop::watch::none;
};

}  // namespace halcyon::coordinate
