#pragma once

#include <memory>

#include "base/event_loop.hpp"

namespace halcyon::coordinate {

/// SIGTERM, SIGINT and SIGHUP as events of the loop; SIGPIPE and SIGXFSZ are ignored: a pipe without a reader and a
/// file that may not grow are errors of the call. To be made before any thread, which would get the signals otherwise.
class signals {
  public:
    static result<std::unique_ptr<signals>> take(event_loop& loop);
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals() { loop_.remove(watch_); }

    [[nodiscard]] bool end_wanted() const { return end_; }
    /// Since this was asked last.
    bool reload_wanted() { return std::exchange(reload_, false); }

  private:
    explicit signals(event_loop& loop, descriptor fd) : loop_(loop), fd_(std::move(fd)) {}
    void read();

    event_loop& loop_;
    descriptor fd_;
    event_loop::watch watch_ = event_loop::watch::none;
    bool end_ = false;
    bool reload_ = false;
};

}  // namespace halcyon::coordinate
