#include "logfs/container/reading/merging_turn.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/clock.hpp"
#include "logfs/container/reading/hashed_numbers.hpp"

namespace halcyon::logfs {
namespace {

constexpr const char* locks_name = "merging";

/// Of this process, the thread that asked for its turn last, until it has had it; 0: none. A handler that interrupted
/// that thread does not wait for it.
std::atomic<pthread_t> merging_here{};

}  // namespace

int merging_turn::begin(std::string_view folder, const short_name& name) {
    end(false);
    folder_.emplace(calls_, memory_);
    int done = folder_->open(folder, true);
    if (done == 0) done = lock(name);
    if (done != 0 && done != -EAGAIN) end(true);
    return done;
}

int merging_turn::lock(const short_name& name) {
    const int fd = folder_->open_locks(locks_name);
    if (fd < 0) return fd;
    locks_ = fd;
    place_ = static_cast<int64_t>(hash_of(name.view()) >> 2);
    const pthread_t before = merging_here.exchange(::pthread_self(), std::memory_order_relaxed);
    const int locked = calls_.lock_part(locks_, place_, 1, true, false);
    is_mine_ = locked == 0;
    if (!is_mine_) merging_here.store(before, std::memory_order_relaxed);
    return locked == -EAGAIN && before == ::pthread_self() ? -EDEADLK : locked;
}

void merging_turn::wait(int64_t most_ns) {
    constexpr int64_t shortest_ns = 500'000;
    constexpr int64_t longest_ns = 10'000'000;
    const int64_t begin_ns = monotonic_ns();
    while (calls_.lock_part(locks_, place_, 1, false, false) == -EAGAIN) {
        const int64_t waited_ns = monotonic_ns() - begin_ns;
        if (waited_ns >= most_ns) return;
        calls_.pause(std::min(most_ns - waited_ns, std::clamp(waited_ns / 8, shortest_ns, longest_ns)));
    }
    static_cast<void>(calls_.unlock_part(locks_, place_, 1));
}

void merging_turn::end(bool is_left) {
    if (locks_ >= 0) {
        if (!is_left) folder_->drop_locks(locks_name, locks_);
        // A child that was forked off meanwhile has the lock, too, for as long as that is not given back.
        static_cast<void>(calls_.unlock_part(locks_, place_, 1));
        calls_.close(locks_);
        locks_ = -1;
    }
    if (is_mine_) merging_here.store(pthread_t{}, std::memory_order_relaxed);
    is_mine_ = false;
    folder_.reset();
}

}  // namespace halcyon::logfs
