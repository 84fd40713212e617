#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "offload/client/fallback_writer.hpp"
#include "offload/client/open_iteration.hpp"
#include "offload/client/server_channel.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/server_loss.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Waits until what a client has written is stored or durable, and at the end until its server is through with
/// everything. Once the last server is lost, while it waits too, what is left to do is done in the client.
///
/// Used by one thread at a time.
class completion {
  public:
    /// The first three are null for a session that never has a server.
    completion(const segment* shared, server_link* link, server_channel* channel, uint32_t client, server_loss& loss,
               fallback_writer& fallback, const open_iteration& now)
        : segment_(shared),
          link_(link),
          channel_(channel),
          client_(client),
          loss_(loss),
          fallback_(fallback),
          now_(now) {}

    enum class stage { accepted, stored, durable };
    /// Of an iteration that the client has ended. Failures (system): its files could not be written or synced;
    /// (unavailable): the server has given the client up.
    result<void> wait(int64_t iteration, stage which);

    // After the client has said goodbye to its server, as of client_session.
    result<void> wait_until_drained();
    result<void> detach();
    bool wait_until_finished();

  private:
    bool serverless() { return loss_.notice(channel_ != nullptr ? channel_->signals_sent() : 0); }
    result<void> wait_without_server(int64_t iteration, stage which);
    result<void> finish_without_server();

    const segment* segment_;
    server_link* link_;
    server_channel* channel_;
    uint32_t client_;
    server_loss& loss_;
    fallback_writer& fallback_;
    const open_iteration& now_;
};

}  // namespace halcyon::offload
