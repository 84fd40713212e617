#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"

namespace halcyon::coordinate {

/// Brings what the node's caches hold of a file system to the storage: bytes in a client's cache are still moving. By
/// syncfs(2), which waits for other jobs' bytes on this node, too: the system keeps no account by job. What lies in
/// the caches of servers counts as moved.
///
/// syncfs needs something open there: the mount; where this user may not read that (mode 0711), what a process of the
/// job has open below it.
///
/// Threads: syncfs takes its time, so a thread does that, one at a time; it writes the eventfd when it is done. Who
/// asks again meanwhile waits for nothing: the same thread begins once more behind that. Where the system has no
/// thread, take_done() tries again. Under the mutex: how often it was asked, and which of these it has done.
class cache_cleaner {
  public:
    /// `done`: an eventfd, the caller's.
    cache_cleaner(std::string mount, int done) : mount_(std::move(mount)), done_(done) {}
    ~cache_cleaner() {
        if (thread_.joinable()) thread_.join();
    }
    cache_cleaner(const cache_cleaner&) = delete;
    cache_cleaner& operator=(const cache_cleaner&) = delete;

    /// `processes`: numbers of those of the job.
    void begin(std::vector<int> processes);
    /// Whether what was in the caches at the last begin() has reached the storage, or cannot be brought there; true
    /// once.
    [[nodiscard]] bool take_done();
    /// How often nothing could be opened, so that bytes may have stayed in the caches.
    [[nodiscard]] uint64_t uncleaned();
    [[nodiscard]] uint64_t threads_missing() const { return threads_missing_; }

  private:
    void run_thread();
    void clean();

    std::string mount_;
    int done_;
    uint64_t threads_missing_ = 0;

    std::thread thread_;
    std::mutex mutex_;
    bool runs_ = false;
    std::vector<int> processes_;
    uint64_t asked_ = 0, done_until_ = 0, taken_ = 0, uncleaned_ = 0;
};

}  // namespace halcyon::coordinate
