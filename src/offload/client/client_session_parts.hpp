#pragma once

#include <string>

#include "base/clock.hpp"
#include "offload/client/client_session.hpp"

namespace halcyon::offload {

/// How long a waiting client sleeps before it looks again whether the server still lives.
inline constexpr int64_t patience_ns = 50'000'000;

inline failure usage(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

/// "'theta'", or "'theta' block 2" where a client has several.
inline std::string block_name(const variable& v, int block) {
    return v.blocks_per_client == 1 ? "'" + v.name + "'" : "'" + v.name + "' block " + std::to_string(block);
}

/// Adds the time of one call to the visible time, and notes when the phase began.
class client_session::timed_call {
  public:
    explicit timed_call(client_session& session) : session_(session), begin_(monotonic_ns()) {
        if (session_.phase_begin_ns_ == 0) {
            session_.phase_begin_ns_ = realtime_ns();
            session_.phase_compute_ns_ = begin_ - session_.phase_end_monotonic_ns_;
        }
    }
    timed_call(const timed_call&) = delete;
    timed_call& operator=(const timed_call&) = delete;
    ~timed_call() {
        const int64_t end = monotonic_ns();
        session_.phase_visible_ns_ += end - begin_;
        session_.counts_.visible_ns += end - begin_;
        session_.phase_end_monotonic_ns_ = end;
    }

  private:
    client_session& session_;
    int64_t begin_;
};

}  // namespace halcyon::offload
