#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "offload/client/fallback_writer.hpp"
#include "offload/client/open_iteration.hpp"
#include "offload/client/place_in_job.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/spill_file.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Whether a client stores its blocks itself: from the start (`inline: true`), or since the last server was lost. When
/// that is noticed, what the segment holds of this client goes into files of its own, one client of the node puts in
/// order what the server left, and clients that ended without a server are cared for, each by one of the others.
///
/// Used by one thread at a time. Clients agree by words of the segment: `settled`, and `cared_for` of each page, which
/// only the client that changed it first acts upon.
class server_loss {
  public:
    /// `shared` and `link`: null for a session that never has a server. `spilled`: the client's spill file.
    server_loss(const model& data, place_in_job where, const segment* shared, server_link* link,
                fallback_writer& fallback, const spill_file& spilled, const open_iteration& now);

    /// True where this client stores its blocks itself; what was noticed so far.
    [[nodiscard]] bool has_happened() const { return happened_; }
    /// As well, and notices a server that is gone for good. `signals_sent`: to servers, so far.
    bool notice(int64_t signals_sent) {
        if (!happened_ && !link_->available()) go_on_alone(signals_sent);
        return happened_;
    }
    /// For a client that has detached itself: true when it has stored what was its own, false when another client did.
    bool notice_detached(int64_t signals_sent);
    /// How it went when the last server was lost.
    [[nodiscard]] const result<void>& outcome() const { return outcome_; }
    /// Stores what clients left that ended after the last server did, or before it and unseen.
    void store_for_the_dead();

  private:
    void go_on_alone(int64_t signals_sent);
    result<void> store_own_blocks();
    result<void> settle_server();
    result<void> take_back_events(int64_t signals_sent);
    result<void> store_own(const checked_block& b);
    void store_remains_of(uint32_t client);

    const model& model_;
    place_in_job where_;
    const segment* segment_;
    server_link* link_;
    fallback_writer& fallback_;
    const spill_file& spill_;
    const open_iteration& now_;
    bool happened_;
    result<void> outcome_;
};

}  // namespace halcyon::offload
