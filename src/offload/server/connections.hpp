#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::offload {

/// The server's sockets: waits on a thread of its own for clients that join, bring spill files, leave or die, and
/// tells the event loop through `inbox` functions (called on that thread).
class connections {
  public:
    struct listener {
        std::function<void(uint32_t client)> joined;
        /// Without a file when this process could not take it: it has no descriptor left.
        std::function<void(uint32_t client, descriptor file)> brought_spill;
        /// The process of the client ended (seen through its pidfd, so that forked children do not count).
        std::function<void(uint32_t client)> ended;
        std::function<void(const std::string&)> log;
    };

    explicit connections(descriptor listening) : listening_(std::move(listening)) {}
    ~connections();

    /// Waits for the client that brings segment and document. Failure (unavailable): none came in `timeout_ms`.
    struct luggage {
        descriptor segment, document;
        uint32_t client = 0;
    };
    result<luggage> receive_segment(int timeout_ms);
    /// Answers the bringer and starts to serve everybody. `clients`: how many may join.
    result<void> serve(uint32_t clients, uint32_t generation, int segment, int document, listener l);
    /// Instead of serve(): tells the bringer why there will be no server.
    void refuse(const failure& why);
    /// Stops listening to the peers; closes their sockets.
    void stop();
    /// Whether the client's process lives and holds its end of the socket.
    [[nodiscard]] bool is_connected(uint32_t client) const {
        return connected_[client].load(std::memory_order_acquire);
    }

  private:
    struct peer {
        descriptor socket, process;
        uint32_t client = 0;
        bool greeted = false;
    };
    void run();
    void accept_one();
    void complain(const std::string& what);
    bool handle(peer& p);
    bool closed(peer& p);
    static void send_refusal(const peer& p, const failure& why);
    static bool is_readable(const descriptor& socket);
    result<void> welcome_peer(const peer& p) const;

    descriptor listening_, stop_;
    peer bringer_;
    std::vector<peer> peers_;
    std::vector<std::atomic<bool>> connected_;
    listener listener_;
    uint32_t clients_ = 0, generation_ = 0;
    int segment_ = -1, document_ = -1;
    int64_t deaf_until_ns_ = 0;       ///< nobody is accepted before: descriptors ran out
    int64_t complained_ns_ = 0;       ///< when the log heard the last complaint
    uint64_t complaints_unsaid_ = 0;  ///< since then
    std::thread thread_;
};

}  // namespace halcyon::offload
