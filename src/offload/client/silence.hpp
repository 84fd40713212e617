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
        /// Once for each thing that takes long, after 5 s or half the limit if that is less: what to tell the user.
        std::function<void(const std::string&)> complain;
        /// The server of this generation has been silent for the whole limit, or for that long once more. False: it is
        /// out of reach.
        std::function<bool(uint32_t generation)> give_up;
    };
    silence(const segment& shared, std::chrono::nanoseconds limit, listener l);

    /// A wait begins, or went on: call at least each 50 ms while it lasts.
    void begin();
    void go_on();

  private:
    void complain_once(const std::string& what);

    const segment& segment_;
    int64_t limit_ns_;
    listener listener_;
    tenure of_;
    server_act act_ = server_act::serving;
    uint64_t heartbeats_ = 0;
    int64_t looked_ns_ = 0;
    int64_t silent_ns_ = 0;  ///< without a heartbeat, or without a server that serves
    int64_t in_act_ns_ = 0;
    std::string complained_;  ///< of this server
};

}  // namespace halcyon::offload
