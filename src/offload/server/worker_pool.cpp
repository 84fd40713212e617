#include "offload/server/worker_pool.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/clock.hpp"

namespace halcyon::offload {

worker_pool::worker_pool(int threads) {
    for (int i = 0; i < std::max(1, threads); ++i) threads_.emplace_back([this] { work(); });
}

worker_pool::~worker_pool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
}

void worker_pool::submit(std::function<void()> job, int64_t not_before_ns, patience wait) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back({not_before_ns, next_order_++, std::move(job), wait});
    }
    changed_.notify_one();
}

void worker_pool::hurry() {
    {
        const std::lock_guard lock(mutex_);
        for (item& i : queue_)
            if (i.wait == patience::may_hurry) i.not_before_ns = 0;
    }
    changed_.notify_all();
}

size_t worker_pool::outstanding() const {
    const std::lock_guard lock(mutex_);
    return queue_.size() + running_;
}

int64_t worker_pool::busy_ns() const {
    const std::lock_guard lock(mutex_);
    return busy_ns_;
}

int64_t worker_pool::waited_ns() const {
    const std::lock_guard lock(mutex_);
    return waited_ns_;
}

void worker_pool::add_wait(int64_t ns) {
    const std::lock_guard lock(mutex_);
    waited_ns_ += ns;
    busy_ns_ -= ns;
}

void worker_pool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        const auto first = std::min_element(queue_.begin(), queue_.end(), [](const item& a, const item& b) {
            return std::tuple(a.not_before_ns, a.order) < std::tuple(b.not_before_ns, b.order);
        });
        if (first == queue_.end()) {
            if (stopping_) return;
            changed_.wait(lock);
            continue;
        }
        const int64_t early = first->not_before_ns - monotonic_ns();
        if (early > 0 && !stopping_) {
            changed_.wait_for(lock, std::chrono::nanoseconds(early));
            continue;
        }
        std::function<void()> job = std::move(first->job);
        queue_.erase(first);
        ++running_;
        lock.unlock();
        const int64_t begin = monotonic_ns();
        job();
        const int64_t took = monotonic_ns() - begin;
        lock.lock();
        busy_ns_ += took;
        --running_;
    }
}

}  // namespace halcyon::offload
