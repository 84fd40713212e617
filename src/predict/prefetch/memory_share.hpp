#pragma once

#include <atomic>
#include <cstdint>

namespace halcyon::predict::prefetch {

/// How many bytes all threads of the process may be ahead of their reads: what the user set, or less where that is more
/// than an eighth of the memory that the node has left.
class memory_share {
  public:
    void start(int64_t most_bytes);

    /// Room for so many bytes more; false: there is none.
    bool take(int64_t bytes);
    void give_back(int64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
    /// Asks the system again what it has left when that is a second old. Not for our own thread: it opens a file.
    void look(int64_t now_ns);

    [[nodiscard]] int64_t most() const { return limit_.load(std::memory_order_relaxed); }

  private:
    static constexpr int64_t share = 8;

    int64_t wanted_ = 0;
    std::atomic<int64_t> limit_{0};
    std::atomic<int64_t> taken_{0};
    std::atomic<int64_t> next_look_ns_{0};
};

}  // namespace halcyon::predict::prefetch
