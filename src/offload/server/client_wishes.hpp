#pragma once

#include <cstdint>
#include <utility>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// What clients ask of their server by words of the segment. They write the word, then ring; a server that has said
/// that it is about to sleep looks once more, so that no wish waits for its next round.
class client_wishes {
  public:
    /// Whether they ask for something that they did not at the last call.
    [[nodiscard]] bool have_changed(const segment& s) {
        const words now = of(s);
        return std::exchange(seen_, now) != now;
    }

  private:
    struct words {
        int64_t stored = -1, durable = -1;
        uint32_t may_exit = 0, waiting = 0;  ///< waiting: how many clients
        bool operator==(const words&) const = default;
    };
    static words of(const segment& s) {
        const segment_header& h = s.header();
        words now{h.stored_wanted.load(std::memory_order_acquire), h.durable_wanted.load(std::memory_order_acquire),
                  h.may_exit.load(std::memory_order_acquire), 0};
        for (uint32_t c = 0; c < s.geometry().clients; ++c)
            now.waiting += s.page(c).waiting.load(std::memory_order_acquire) != 0 ? 1 : 0;
        return now;
    }

    words seen_;
};

}  // namespace halcyon::offload
