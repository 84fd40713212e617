#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "offload/client/fallback_writer.hpp"

namespace halcyon::offload {

/// The iteration that the client has not ended yet: its number, and what the simulation has written and spent in it.
/// Used by one thread at a time; reads the clock twice in a call, and nothing else.
class open_iteration {
  public:
    [[nodiscard]] int64_t number() const { return number_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    /// What the records say of it.
    [[nodiscard]] fallback_writer::phase seen() const {
        return {begin_ns_, static_cast<int64_t>(visible_ns_), static_cast<int64_t>(blocked_ns_), compute_ns_,
                static_cast<int64_t>(bytes_)};
    }
    /// Since the session was opened.
    [[nodiscard]] uint64_t all_visible_ns() const { return all_visible_ns_; }
    [[nodiscard]] uint64_t all_blocked_ns() const { return all_blocked_ns_; }
    /// Time in calls since the last iteration ended when nothing was written since, so that none is open.
    [[nodiscard]] int64_t visible_in_no_phase_ns() const { return bytes_ > 0 ? 0 : static_cast<int64_t>(visible_ns_); }

    void add_bytes(uint64_t bytes) { bytes_ += bytes; }
    /// Part of the time of a call.
    void add_blocked(int64_t ns) {
        blocked_ns_ += static_cast<uint64_t>(ns);
        all_blocked_ns_ += static_cast<uint64_t>(ns);
    }
    /// The simulation was held up since the last call returned.
    void add_time_since_last_call() {
        const int64_t begin = last_call_ns_;
        last_call_ns_ = monotonic_ns();
        add_visible(last_call_ns_ - begin);
    }
    /// The client ended it: the next one is open.
    void end() {
        ++number_;
        begin_ns_ = 0;
        visible_ns_ = blocked_ns_ = bytes_ = 0;
    }

    /// Adds the time of one call to the visible time, and notes when the phase began.
    class timed_call {
      public:
        explicit timed_call(open_iteration& of) : of_(of), begin_(monotonic_ns()) {
            if (of_.begin_ns_ != 0) return;
            of_.begin_ns_ = realtime_ns();
            of_.compute_ns_ = begin_ - of_.last_call_ns_;
        }
        timed_call(const timed_call&) = delete;
        timed_call& operator=(const timed_call&) = delete;
        ~timed_call() {
            of_.last_call_ns_ = monotonic_ns();
            of_.add_visible(of_.last_call_ns_ - begin_);
        }

      private:
        open_iteration& of_;
        int64_t begin_;
    };

  private:
    void add_visible(int64_t ns) {
        visible_ns_ += static_cast<uint64_t>(ns);
        all_visible_ns_ += static_cast<uint64_t>(ns);
    }

    int64_t number_ = 0;
    int64_t begin_ns_ = 0;                   ///< real time of its first call; 0: there was none
    int64_t last_call_ns_ = monotonic_ns();  ///< when the last call returned
    int64_t compute_ns_ = 0;                 ///< from the last call of the iteration before to its first
    uint64_t visible_ns_ = 0, blocked_ns_ = 0, bytes_ = 0;
    uint64_t all_visible_ns_ = 0, all_blocked_ns_ = 0;
};

}  // namespace halcyon::offload
