#pragma once

#include <chrono>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/line_socket/socket_address.hpp"

namespace halcyon {

/// A stream socket that is connected to the address; of a host with several addresses, to the first that answers.
/// Failure (unavailable): nobody listens, or nobody took the connection in time. System: it may not be reached.
result<descriptor> connect_stream(const socket_address& address, std::chrono::nanoseconds timeout);

/// What both ends of a TCP connection want: lines leave at once, and a peer whose node is gone is noticed within a
/// minute.
void prepare_tcp(int socket);

/// Of a TCP connection over which something is sent all the time: it breaks when the peer has confirmed nothing of that
/// for so long. The system would try again ever more seldom, and come back late after a cut of the network.
void break_when_unconfirmed(int socket, std::chrono::milliseconds after);

}  // namespace halcyon
