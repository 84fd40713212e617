#pragma once

#include <atomic>
#include <cstdint>

#include "calls/state/own_thread.hpp"

namespace halcyon::calls {

/// A thread of ours that works when it is woken, and sleeps in between. It begins with the first wake-up, and ends when
/// there was none for `patience_ns`: a program that computes has no thread of ours.
///
/// Who wakes it has published the work before. The thread looks whether it was rung once more after each change of
/// `state_` by which it would sleep or end, and whoever rings looks at `state_` after that: so no work is left behind.
/// What comes while the thread's stack is not free yet waits for the next wake-up.
class woken_thread {
  public:
    /// Does all that there is; returns after how many nanoseconds it is to be called again though nobody wakes it, or
    /// `only_woken`.
    using work = int64_t (*)(void* of);
    static constexpr int64_t only_woken = -1;

    /// False: the system has no thread for us.
    bool wake(work what, void* of);
    /// The process was forked, or is about to start.
    void forget();
    [[nodiscard]] bool has_ended() const { return state_.load() == ended && !thread_.runs(); }

  private:
    enum state : uint32_t { ended = 0, awake, asleep };
    static constexpr int64_t patience_ns = 200'000'000;

    static void run(void* self);
    bool wait_for_more(int64_t again_ns);

    own_thread thread_;
    std::atomic<uint32_t> state_{ended};
    std::atomic<bool> rung_{false};
    work work_ = nullptr;
    void* of_ = nullptr;
};

}  // namespace halcyon::calls
