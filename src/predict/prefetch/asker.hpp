#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "calls/state/woken_thread.hpp"
#include "predict/prefetch/request_ring.hpp"

namespace halcyon::predict::prefetch {

/// Asks the kernel to read ranges ahead, in a thread of ours: posix_fadvise(POSIX_FADV_WILLNEED), which readahead(2) is
/// the same as, starts the reads and returns, but waits when the device's queue is full, and while it reads where in
/// the file system the file's blocks are.
///
/// A request that comes while the thread cannot be started again yet waits for the next one, or is withdrawn by its
/// read.
class asker {
  public:
    static constexpr uint32_t most_rings = 256;
    /// A thread's requests, and what asking for them took of the processor.
    struct source {
        std::atomic<request_ring*> requests{nullptr};
        std::atomic<int64_t> worked_ns{0};
    };

    /// `number`'s ring is `requests` from now on.
    void add(uint32_t number, request_ring& requests) { sources_[number].requests.store(&requests); }
    /// There is something new in ring `number`. False: the system has no thread for us.
    bool wake(uint32_t number);
    /// Nanoseconds of processor time since it was asked last.
    int64_t take_work(uint32_t number) { return sources_[number].worked_ns.exchange(0); }
    /// The process was forked, or is about to start.
    void forget();

    /// One call of the kernel for no more than this: it reads less than it is asked for when that is more than its own
    /// window or the largest request of the device.
    static constexpr int64_t most_at_once = int64_t{128} << 10;

  private:
    static int64_t work(void* self);
    static outcome ask(const request& wanted);
    bool drain();

    calls::woken_thread thread_;
    std::array<std::atomic<uint64_t>, most_rings / 64> pending_{};
    std::array<source, most_rings> sources_{};
};

}  // namespace halcyon::predict::prefetch
