#pragma once

#include <cstdint>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/action_queue.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"

namespace halcyon::offload {

/// Turns the clients' signals into runs of their events: scope client at once, scope node each time that all live
/// clients have raised the event, scope job by way of all servers. How often each was raised and ran is counted in the
/// segment, where a server that takes over finds it.
///
/// The loop's thread alone uses it.
class client_signals {
  public:
    client_signals(const segment& shared, const model& data, const iteration_book& book, action_queue& actions,
                   journal& notes)
        : segment_(shared), data_(data), book_(book), actions_(actions), journal_(notes) {}

    /// A client raised event number `event_id` in `iteration`; the number is unchecked.
    void take(uint32_t client, uint32_t event_id, int64_t iteration);
    /// A client left: the others no longer wait for its signals.
    void run_what_nobody_waits_for();
    /// Of a client's signals that a predecessor took: those whose actions it did not finish are done with, and their
    /// number is returned. Those that wait for other clients to raise their event still come to that.
    uint64_t give_up(uint32_t client);

  private:
    void run_if_all_signalled(uint32_t event_id);

    const segment& segment_;
    const model& data_;
    const iteration_book& book_;
    action_queue& actions_;
    journal& journal_;
};

}  // namespace halcyon::offload
