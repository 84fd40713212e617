#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "base/doorbell.hpp"

namespace halcyon::offload {

/// What other threads have for the event loop: each piece of news is a function that the loop runs.
///
/// Threads: any thread tells, the loop alone reads. The news is in the list before the flag is raised, and the flag is
/// raised before the bell rings: a loop that saw no flag before it fell asleep is woken.
class inbox {
  public:
    explicit inbox(doorbell& bell) : bell_(bell) {}

    void tell(std::function<void()> news);
    /// Runs what has come, in the order in which it was told. True: there was some.
    bool read();
    [[nodiscard]] bool has_news() const { return filled_.load(std::memory_order_acquire); }

  private:
    doorbell& bell_;
    std::mutex mutex_;
    std::vector<std::function<void()>> news_;
    std::atomic<bool> filled_{false};
};

}  // namespace halcyon::offload
