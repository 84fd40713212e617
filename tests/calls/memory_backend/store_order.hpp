#pragma once

#include <linux/membarrier.h>

#include <atomic>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls::in_memory {

/// Between a writer, which stores bytes and then asks whether somebody truncates, and whoever says so and then clears
/// bytes. Both need their two steps in this order for all to see. Writers are many, and a fence would wait for each of
/// their stores; so whoever truncates lets the kernel put one into all threads of all processes that registered.
class store_order {
  public:
    constexpr store_order() = default;

    /// In each process, also in a forked one.
    void start() { registered_ = command(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0; }

    void before_question() const {
        if (registered_) [[likely]]
            std::atomic_signal_fence(std::memory_order_seq_cst);
        else
            std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    static void before_clearing() {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        command(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    }

  private:
    static long command(int number) { return direct::call(SYS_membarrier, number, 0, 0); }

    bool registered_ = false;
};

}  // namespace halcyon::calls::in_memory
