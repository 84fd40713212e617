#pragma once

#include <atomic>
#include <cstdint>

#include "calls/direct_call.hpp"
#include "calls/process_state.hpp"

namespace halcyon::predict {

/// A lock for short code that calls nothing. One who does not get it goes without, since the thread that holds it may
/// have been stopped for good. A jump out of that code lets it go (thread_state::held).
class patient_lock {
  public:
    class guard {
      public:
        explicit guard(patient_lock& of) : thread_(calls::this_thread()), word_(of.word_) {
            constexpr int patience = 10'000;
            ++thread_.inside;
            before_ = thread_.held;
            thread_.held = &word_;  // first: a handler may jump away as soon as it is ours
            uint32_t nobody = 0;
            for (int tries = 0;
                 !word_.compare_exchange_strong(nobody, calls::lock_name(thread_), std::memory_order_acquire);
                 ++tries) {
                if (tries == patience) {
                    thread_.held = before_;
                    return;
                }
                nobody = 0;
                calls::direct::yield();
            }
            holds_ = true;
        }
        ~guard() {
            if (holds_) {
                word_.store(0, std::memory_order_release);
                thread_.held = before_;
            }
            --thread_.inside;
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
        explicit operator bool() const { return holds_; }

      private:
        calls::thread_state& thread_;
        std::atomic<uint32_t>& word_;
        std::atomic<uint32_t>* before_ = nullptr;
        bool holds_ = false;
    };

  private:
    std::atomic<uint32_t> word_{0};
};

}  // namespace halcyon::predict
