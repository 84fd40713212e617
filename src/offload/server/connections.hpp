#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/token_bucket.hpp"
#include "offload/server/steering_peer.hpp"

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
        using steerer = std::shared_ptr<const steering_peer>;
        /// A process that steers has connected (empty), or sends a message. The next one of it is read when nobody
        /// holds this one any more.
        std::function<void(const steerer& from, std::shared_ptr<const std::string> message)> steered;
        std::function<void(const steerer& gone)> steerer_left;
    };

    explicit connections(descriptor listening);
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
        listener::steerer steers;                 ///< else null
        std::weak_ptr<const std::string> unread;  ///< what it sent last, for as long as the event loop has not read it
    };
    void run();
    void accept_one();
    void complain(const std::string& what);
    bool handle(peer& p);
    bool closed(peer& p);
    bool begin_steering(peer& p);
    bool take_steering(peer& p);
    void pass_on(peer& p, std::string message);
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
    std::vector<std::weak_ptr<const steering_peer>> steerers_;  ///< that the event loop may still know
    token_bucket steering_tokens_;
    std::thread thread_;
};

}  // namespace halcyon::offload
