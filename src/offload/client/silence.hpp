#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Measures, for a client that waits, how long its server has given no sign of life. Only the time in which the client
/// itself was running counts: a job that was stopped and goes on finds a server that is as old as itself.
class silence {
  public:
    struct listener {
        /// Once for each server, after 5 s or half the limit if that is less: what to tell the user.
        std::function<void(const std::string&)> complain;
        /// The server of this generation has been silent for the whole limit.
        std::function<void(uint32_t generation)> give_up;
    };
    silence(const segment& shared, std::chrono::nanoseconds limit, listener l);

    /// A wait begins, or went on: call at least each 50 ms while it lasts.
    void begin();
    void go_on();

  private:
    const segment& segment_;
    int64_t limit_ns_;
    listener listener_;
    tenure of_;
    uint64_t heartbeats_ = 0;
    int64_t looked_ns_ = 0, silent_ns_ = 0;
    bool complained_ = false, gave_up_ = false;
};

}  // namespace halcyon::offload
