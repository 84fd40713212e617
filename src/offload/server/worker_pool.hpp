#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halcyon::offload {

/// Threads that run jobs, so that the event loop never waits for storage or plugins. Jobs start in the order of
/// (not_before, submission); with one thread they never overlap.
class worker_pool {
  public:
    explicit worker_pool(int threads);
    ~worker_pool();  ///< runs what is queued, without waiting for its time, then joins

    /// Whether hurry() may shorten a wait.
    enum class patience { may_hurry, firm };
    /// `not_before_ns`: monotonic time before which the job must not start (0: at once).
    void submit(std::function<void()> job, int64_t not_before_ns = 0, patience wait = patience::may_hurry);
    /// Lets every queued job start as soon as a thread is free, but for those that wait firmly.
    void hurry();
    /// Jobs queued or running.
    [[nodiscard]] size_t outstanding() const;
    /// Of a job that runs: so long it only waited.
    void add_wait(int64_t ns);
    /// Time the threads spent in jobs, but for what these waited.
    [[nodiscard]] int64_t busy_ns() const;
    /// Time that jobs waited.
    [[nodiscard]] int64_t waited_ns() const;

  private:
    struct item {
        int64_t not_before_ns;
        uint64_t order;
        std::function<void()> job;
        patience wait;
    };
    void work();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<item> queue_;
    std::vector<std::thread> threads_;
    uint64_t next_order_ = 0;
    size_t running_ = 0;
    int64_t busy_ns_ = 0;
    int64_t waited_ns_ = 0;
    bool stopping_ = false;
};

}  // namespace halcyon::offload
