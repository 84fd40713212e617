#pragma once

#include <atomic>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::coordinate {

/// As base/doorbell.hpp, for ringers that may not call the C library: ring() leaves the wake-up to `wake`.
///
/// Protocol (Dekker's): a ringer publishes its work, then rings; the sleeper calls prepare(), then looks for work once
/// more, then sleeps on `word` while that is `asleep`. Both sides have a full fence in between: either the sleeper sees
/// the work, or the ringer sees `asleep`.
struct agent_bell {
    static constexpr uint32_t awake = 0, asleep = 1;

    std::atomic<uint32_t> word;

    /// `wake(word)` wakes who sleeps on it; it is called by one ringer only.
    template <class Wake>
    void ring(Wake wake) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (word.load(std::memory_order_relaxed) != asleep) return;
        if (word.exchange(awake, std::memory_order_acq_rel) == asleep) wake(word);
    }
    void prepare() {
        word.store(asleep, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    void cancel() { word.store(awake, std::memory_order_relaxed); }
};
static_assert(has_shared_layout<agent_bell, 4, 4>());

}  // namespace halcyon::coordinate
