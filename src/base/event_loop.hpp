#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/timer_queue.hpp"

namespace halcyon {

/// Waits for descriptors (epoll, level-triggered) and timers (CLOCK_MONOTONIC, which never steps) on one thread, and
/// runs the function of each that is ready. Once all are watched it allocates nothing. Timers fire late
/// by what the functions before them take, and the kernel to wake the thread.
///
/// Threads: stop() may be called by any thread and in a signal handler; all else belongs to the thread of the loop.
class event_loop {
  public:
    static result<std::unique_ptr<event_loop>> start();
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;

    enum class watch : uint64_t { none = 0 };
    /// `ready` gets the events of epoll: EPOLLHUP and EPOLLERR come unasked. The descriptor stays the caller's.
    result<watch> add(int fd, uint32_t events, std::function<void(uint32_t events)> ready);
    /// To wait for other events, say for EPOLLOUT while bytes wait. Failure (internal): the watch is gone.
    result<void> change(watch w, uint32_t events);
    /// Before the descriptor is closed. Its function does not run any more, and may itself do this.
    void remove(watch w);

    [[nodiscard]] timer_queue& timers() { return timers_; }

    /// Waits for something that is ready or due, at most `most_ns` (negative: no limit), and runs its functions.
    /// Descriptors come before timers, each ready one once, so that none waits for another that is always ready. Where
    /// the process was stopped meanwhile, what became ready in that time has been seen to when this returns.
    result<void> run_once(int64_t most_ns = -1);
    /// Until stop(), which also ends a run() that is called later.
    result<void> run();
    void stop();

  private:
    static constexpr size_t most_events = 128;
    struct slot {
        std::function<void(uint32_t)> ready;
        int fd = -1;  ///< negative: free
        uint32_t generation = 1;
    };
    event_loop(descriptor epoll, descriptor bell, descriptor alarm)
        : epoll_(std::move(epoll)), bell_(std::move(bell)), alarm_(std::move(alarm)) {}
    [[nodiscard]] std::optional<size_t> slot_of(uint64_t number) const;
    [[nodiscard]] int64_t wait_until_ns(int64_t most_ns) const;
    result<int> wait(int64_t until_ns);
    void call(const epoll_event& event);

    descriptor epoll_, bell_, alarm_;
    int64_t alarm_ns_ = INT64_MAX;  ///< when it comes, CLOCK_MONOTONIC; INT64_MAX: it is not set
    std::vector<slot> slots_;
    std::vector<size_t> free_;
    timer_queue timers_;
    std::array<epoll_event, most_events> events_{};
    bool is_stopped_ = false;
};

}  // namespace halcyon
