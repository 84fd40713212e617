#include "base/event_loop.hpp"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/clock.hpp"

namespace halcyon {
namespace {

/// Of the bell and of the alarm; no watch has them, since generations begin with 1.
constexpr uint64_t bell_number = 0, alarm_number = 1;
constexpr int64_t at_once = 0, never = std::numeric_limits<int64_t>::max();

uint64_t number_of(size_t index, uint32_t generation) {
    return uint64_t{generation} << 32 | index;
}

int control(int epoll, int operation, int fd, uint32_t events, uint64_t number) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = number;
    return ::epoll_ctl(epoll, operation, fd, &e);
}

}  // namespace

result<std::unique_ptr<event_loop>> event_loop::start() {
    descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) return system_failure("epoll_create1", errno);
    descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!bell) return system_failure("eventfd", errno);
    descriptor alarm(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!alarm) return system_failure("timerfd_create", errno);
    // The alarm is told of once each time: nobody has to read it.
    if (control(epoll.get(), EPOLL_CTL_ADD, bell.get(), EPOLLIN, bell_number) != 0 ||
        control(epoll.get(), EPOLL_CTL_ADD, alarm.get(), EPOLLIN | EPOLLET, alarm_number) != 0)
        return system_failure("epoll_ctl", errno);
    return std::unique_ptr<event_loop>(new event_loop(std::move(epoll), std::move(bell), std::move(alarm)));
}

result<event_loop::watch> event_loop::add(int fd, uint32_t events, std::function<void(uint32_t events)> ready) {
    if (free_.empty()) {
        free_.push_back(slots_.size());
        slots_.emplace_back();
    }
    const size_t index = free_.back();
    slot& s = slots_[index];
    const uint64_t number = number_of(index, s.generation);
    if (control(epoll_.get(), EPOLL_CTL_ADD, fd, events, number) != 0) return system_failure("epoll_ctl", errno);
    free_.pop_back();
    s.ready = std::move(ready);
    s.fd = fd;
    return static_cast<watch>(number);
}

std::optional<size_t> event_loop::slot_of(uint64_t number) const {
    const size_t index = number & std::numeric_limits<uint32_t>::max();
    const bool is_known = index < slots_.size() && slots_[index].fd >= 0 && slots_[index].generation == number >> 32;
    return is_known ? std::optional(index) : std::nullopt;
}

result<void> event_loop::change(watch w, uint32_t events) {
    const auto number = static_cast<uint64_t>(w);
    const auto index = slot_of(number);
    if (!index) return failure{error_kind::internal, "event loop: the watch to change is gone", 0};
    if (control(epoll_.get(), EPOLL_CTL_MOD, slots_[*index].fd, events, number) != 0)
        return system_failure("epoll_ctl", errno);
    return {};
}

void event_loop::remove(watch w) {
    const auto index = slot_of(static_cast<uint64_t>(w));
    if (!index) return;
    slot& s = slots_[*index];
    static_cast<void>(control(epoll_.get(), EPOLL_CTL_DEL, s.fd, 0, 0));
    s.ready = nullptr;
    s.fd = -1;
    // Events of this round that are for it, or for a descriptor that got its number since, are recognised by this.
    ++s.generation;
    free_.push_back(*index);
}

int64_t event_loop::wait_until_ns(int64_t most_ns) const {
    if (is_stopped_ || most_ns == 0) return at_once;
    const int64_t now_ns = monotonic_ns();
    int64_t until_ns = most_ns < 0 ? never : now_ns + std::min(most_ns, never - now_ns);
    if (const auto next_ns = timers_.next_ns()) until_ns = std::min(until_ns, *next_ns);
    return until_ns > now_ns ? until_ns : at_once;
}

/// An alarm that is set for an earlier time stays: when it comes, it is set anew. So it is set a few times a second
/// where epoll_wait() would set and take back one of its own in each round, which on a virtual machine takes as long as
/// a short message.
result<int> event_loop::wait(int64_t until_ns) {
    if (until_ns != at_once && until_ns != never && (alarm_ns_ == never || until_ns < alarm_ns_)) {
        const int64_t in_ns = std::max<int64_t>(until_ns - monotonic_ns(), 1);  // 0 would unset it
        itimerspec when{};
        when.it_value = {.tv_sec = in_ns / 1'000'000'000, .tv_nsec = in_ns % 1'000'000'000};
        if (::timerfd_settime(alarm_.get(), 0, &when, nullptr) != 0) return system_failure("timerfd_settime", errno);
        alarm_ns_ = until_ns;
    }
    int ready = ::epoll_wait(epoll_.get(), events_.data(), most_events, until_ns == at_once ? 0 : -1);
    // Also where the process was stopped, and goes on (signal(7)): by then, much may have become ready.
    if (ready < 0 && errno == EINTR) ready = ::epoll_wait(epoll_.get(), events_.data(), most_events, 0);
    if (ready < 0 && errno != EINTR) return system_failure("epoll_wait", errno);
    return std::max(ready, 0);
}

result<void> event_loop::run_once(int64_t most_ns) {
    const int64_t until_ns = wait_until_ns(most_ns);
    for (bool waits = true; waits;) {
        const auto ready = wait(until_ns);
        if (!ready) return ready.why();
        waits = *ready == 1 && events_[0].data.u64 == alarm_number && until_ns > monotonic_ns();
        for (int i = 0; i < *ready; ++i) call(events_[static_cast<size_t>(i)]);
    }
    if (timers_.next_ns()) timers_.run_due(monotonic_ns());
    return {};
}

void event_loop::call(const epoll_event& event) {
    if (event.data.u64 == bell_number) {
        uint64_t rung = 0;
        static_cast<void>(!::read(bell_.get(), &rung, sizeof rung));
        is_stopped_ = true;
        return;
    }
    if (event.data.u64 == alarm_number) {
        alarm_ns_ = never;
        return;
    }
    const auto index = slot_of(event.data.u64);
    if (!index) return;
    // Out of its slot while it runs: it may remove its watch, or add others.
    std::function<void(uint32_t)> ready = std::move(slots_[*index].ready);
    ready(event.events);
    if (slot_of(event.data.u64)) slots_[*index].ready = std::move(ready);
}

result<void> event_loop::run() {
    while (!is_stopped_) {
        if (auto done = run_once(); !done) return done;
    }
    is_stopped_ = false;
    return {};
}

void event_loop::stop() {
    const int saved_errno = errno;
    const uint64_t one = 1;
    static_cast<void>(!::write(bell_.get(), &one, sizeof one));
    errno = saved_errno;
}

}  // namespace halcyon
