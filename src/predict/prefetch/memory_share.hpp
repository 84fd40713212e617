#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace halcyon::predict::prefetch {

/// How many bytes all threads of the process may be ahead of their reads: what the user set, or less where that is more
/// than an eighth of the memory that the node has left.
class memory_share {
  public:
    /// Opens a file; again in a forked child.
    void start(int64_t most_bytes);

    static constexpr uint32_t most_holders = 256;
    /// `holder` is what this thread of the system takes for from now on.
    void hold(uint32_t holder, int thread) { holders_[holder].thread = thread; }
    /// Room for so many bytes more; false: there is none.
    bool take(uint32_t holder, int64_t bytes);
    void give_back(uint32_t holder, int64_t bytes);
    /// Asks the system again what it has left when that is a second old, and takes back what threads hold that
    /// have ended.
    void look(int64_t now_ns);

    [[nodiscard]] int64_t most() const { return limit_.load(std::memory_order_relaxed); }

  private:
    static constexpr int64_t share = 8;
    struct held {
        std::atomic<int> thread{0};
        std::atomic<int64_t> bytes{0};
    };

    int meminfo_ = -1;
    int64_t wanted_ = 0;
    std::atomic<int64_t> limit_{0};
    std::atomic<int64_t> taken_{0};
    std::atomic<int64_t> next_look_ns_{0};
    std::array<held, most_holders> holders_{};
};

}  // namespace halcyon::predict::prefetch
