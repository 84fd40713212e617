#pragma once

#include <poll.h>

#include <cerrno>

#include "base/line_socket/listening_socket.hpp"

namespace halcyon::tests {

constexpr int patience_ms = 20'000;

/// False: not within the patience.
inline bool wait_for(int fd, short events) {
    pollfd one{fd, events, 0};
    int ready = 0;
    do ready = ::poll(&one, 1, patience_ms);
    while (ready < 0 && errno == EINTR);
    return ready == 1;
}

inline result<listening_socket::accepted> accept_one(listening_socket& listening) {
    if (!wait_for(listening.fd(), POLLIN)) return failure{error_kind::unavailable, "nobody has connected", 0};
    return listening.accept();
}

}  // namespace halcyon::tests
