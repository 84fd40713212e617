#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "coordinate/daemon/listener.hpp"

namespace halcyon::coordinate {

/// Answers `GET /metrics` (HTTP 1.x) on the daemon's own loop, and closes. All that Prometheus needs of HTTP is one
/// fixed answer: a library for it would bring its threads, whose look at the state would have to be kept apart from the
/// loop.
///
/// At most 16 requests at a time, each of at most 8 KiB and 5 s. One more ends the oldest that has not asked anything
/// yet, once its socket was looked at, or that has not read its answer within a second: who does neither keeps nobody
/// from the metrics.
class metrics_server {
  public:
    /// `text` is asked for a request unless it was a moment ago, see latest_text().
    static result<std::unique_ptr<metrics_server>> open(event_loop& loop, const socket_address& address,
                                                        mode_t permissions, daemon_counts& counted,
                                                        std::function<std::string()> text);
    metrics_server(const metrics_server&) = delete;
    metrics_server& operator=(const metrics_server&) = delete;
    ~metrics_server();

    [[nodiscard]] const listener& at() const { return *listener_; }
    [[nodiscard]] listener& at() { return *listener_; }
    void expire(int64_t now_ns);

  private:
    struct request {
        descriptor socket;
        event_loop::watch watch = event_loop::watch::none;
        std::string asked;
        std::string answer;
        size_t sent = 0;
        int64_t until_ns = 0;
    };

    metrics_server(event_loop& loop, daemon_counts& counted, std::function<std::string()> text)
        : loop_(loop), counted_(counted), text_(std::move(text)) {}
    void add(descriptor socket);
    bool make_room();
    void ready(uint64_t number);
    /// False: the request is over.
    bool read(request& r);
    bool write(request& r) const;
    const std::string& latest_text();
    void answer(request& r);
    void end(uint64_t number);

    event_loop& loop_;
    daemon_counts& counted_;
    std::function<std::string()> text_;
    std::unique_ptr<listener> listener_;
    std::map<uint64_t, request> requests_;
    uint64_t latest_ = 0;
    std::string known_text_;
    int64_t known_until_ns_ = 0;
    int64_t text_took_ns_ = 0;
};

}  // namespace halcyon::coordinate
