#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {

/// A lock for short code that calls nothing. One who does not get it goes without, since the thread that holds it may
/// have been stopped for good: that thread is waited for once, and by nobody again until it lets go. A jump out of that
/// code lets it go (thread_state::held).
class patient_lock {
  public:
    /// A call of the application waits for a thread that lost its core: 50 ms. Its end waits for longer, 2 s, and also
    /// for one that calls have given up on.
    enum class patience { of_a_call, of_the_end };

    class guard {
      public:
        explicit guard(patient_lock& of, patience how = patience::of_a_call) : thread_(this_thread()), of_(of) {
            ++thread_.inside;
            before_ = thread_.held;
            thread_.held = &of_.word_;  // first: a handler may jump away as soon as it is ours
            holds_ = take() || wait(how);
            if (!holds_) thread_.held = before_;
        }
        ~guard() {
            if (holds_) {
                of_.word_.store(0, std::memory_order_release);
                thread_.held = before_;
            }
            --thread_.inside;
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
        explicit operator bool() const { return holds_; }

      private:
        bool take() {
            uint32_t nobody = 0;
            if (!of_.word_.compare_exchange_strong(nobody, lock_name(thread_), std::memory_order_acquire)) return false;
            of_.given_up_on_.store(0, std::memory_order_relaxed);
            return true;
        }

        bool wait(patience how) {
            constexpr int tries_at_a_time = 100;
            const bool ends = how == patience::of_the_end;
            const int64_t until = monotonic_ns() + (ends ? 2'000'000'000 : 50'000'000);
            while (monotonic_ns() < until) {
                for (int tries = 0; tries < tries_at_a_time; ++tries) {
                    direct::yield();
                    if (take()) return true;
                }
                const uint32_t holder = of_.word_.load(std::memory_order_relaxed);
                if (!ends && holder != 0 && holder == of_.given_up_on_.load(std::memory_order_relaxed)) return false;
            }
            of_.given_up_on_.store(of_.word_.load(std::memory_order_relaxed), std::memory_order_relaxed);
            return false;
        }

        thread_state& thread_;
        patient_lock& of_;
        std::atomic<uint32_t>* before_ = nullptr;
        bool holds_ = false;
    };

    /// In a forked child: its holder may be a thread that only the parent has. Whether there was one.
    bool after_fork() {
        given_up_on_.store(0, std::memory_order_relaxed);
        return word_.exchange(0, std::memory_order_relaxed) != 0;
    }

  private:
    std::atomic<uint32_t> word_{0};
    std::atomic<uint32_t> given_up_on_{0};  ///< what the word said
};

}  // namespace halcyon::calls
