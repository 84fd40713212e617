#pragma once

#include <utility>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Collects, in one round of the event loop, that something changed for which clients may wait, and wakes them once.
/// The loop's thread alone uses it.
class progress_notice {
  public:
    explicit progress_notice(const segment& shared) : segment_(shared) {}

    /// Something changed.
    void note() { changed_ = true; }
    /// Wakes the clients when something changed since the last call.
    void announce() {
        if (std::exchange(changed_, false)) segment_.announce_progress();
    }

  private:
    const segment& segment_;
    bool changed_ = false;
};

}  // namespace halcyon::offload
