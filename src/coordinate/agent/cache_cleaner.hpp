#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "base/descriptor.hpp"

namespace halcyon::coordinate {

/// Brings what the node's caches hold of a file system to the storage: bytes in a client's cache are still moving. By
/// syncfs(2), which waits for other jobs' bytes on this node, too: the system keeps no account by job. What lies in
/// the caches of servers counts as moved.
///
/// Threads: syncfs takes its time, so a thread does that, one at a time; it writes the eventfd when it is done.
class cache_cleaner {
  public:
    /// `done`: an eventfd, the caller's.
    cache_cleaner(std::string mount, int done) : mount_(std::move(mount)), done_(done) {}
    ~cache_cleaner() {
        if (thread_.joinable()) thread_.join();
    }
    cache_cleaner(const cache_cleaner&) = delete;
    cache_cleaner& operator=(const cache_cleaner&) = delete;

    void begin();
    /// Once for each begin().
    [[nodiscard]] bool take_done() { return is_done_.exchange(false); }

  private:
    std::string mount_;
    int done_;
    std::thread thread_;
    std::atomic<bool> is_done_{false};
};

}  // namespace halcyon::coordinate
