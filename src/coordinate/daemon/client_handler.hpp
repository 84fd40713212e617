#pragma once

#include <string_view>

#include "base/line_socket/peer_identity.hpp"
#include "coordinate/coordinator/effects.hpp"

namespace halcyon::coordinate {

/// Handles what clients say.
class client_handler {
  public:
    client_handler() = default;
    client_handler(const client_handler&) = delete;
    client_handler& operator=(const client_handler&) = delete;
    virtual ~client_handler() = default;
    /// Returns whether the client is an administrator.
    virtual bool came(connection_id id, const peer_identity& who) = 0;
    virtual void said(connection_id id, std::string_view line) = 0;
    virtual void waits(connection_id id) = 0;          ///< something of it lies there, to be read later
    virtual void said_too_much(connection_id id) = 0;  ///< of a line beyond the bound; went() follows
    virtual void went(connection_id id) = 0;           ///< not called for those that finish() closes
};

}  // namespace halcyon::coordinate
