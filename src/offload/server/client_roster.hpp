#pragma once

#include <cstdint>
#include <vector>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Which clients of the node are still there. A client is *awaited* until it joined this server, *gone* once it closed,
/// died or was given up (it sends no more events), and *silent* once its connection is over (it brings no more files).
///
/// The loop's thread alone uses it.
class client_roster {
  public:
    client_roster(const segment& shared, uint32_t generation);

    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(gone_.size()); }
    [[nodiscard]] bool is_gone(uint32_t client) const { return gone_[client]; }
    [[nodiscard]] bool is_silent(uint32_t client) const { return silent_[client]; }
    [[nodiscard]] bool are_all_gone() const;
    /// Whether a client that is still there waits for room.
    [[nodiscard]] bool somebody_waits() const;

    void joined(uint32_t client) { awaited_[client] = false; }
    void fell_silent(uint32_t client) { silent_[client] = true; }
    /// The client is gone from now on. False: it was already.
    bool leave(uint32_t client);

    /// A server that takes over: clients that have not died join again. One that closed does, too: it waits for its
    /// data, and brings its spill file.
    void await_again();
    /// Clients that were awaited and will not join, since they died while there was no server or in the middle of the
    /// open: nobody sees them end. They are silent from now on, and each is returned once.
    std::vector<uint32_t> take_lost();

  private:
    const segment& segment_;
    uint32_t generation_;
    std::vector<bool> gone_, silent_, awaited_;
    int64_t awaited_until_ns_ = 0;  ///< after that they are taken for dead; 0: no limit yet
};

}  // namespace halcyon::offload
