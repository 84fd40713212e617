#include "coordinate/agent/cache_cleaner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

#include "base/try_thread.hpp"

namespace halcyon::coordinate {

void cache_cleaner::begin() {
    const std::lock_guard here(mutex_);
    ++asked_;
    run_thread();
}

/// With the mutex.
void cache_cleaner::run_thread() {
    if (runs_) return;
    if (thread_.joinable()) thread_.join();  // it has ended
    runs_ = try_thread(thread_, [this] { clean(); });
    threads_missing_ += runs_ ? 0 : 1;
}

bool cache_cleaner::take_done() {
    const std::lock_guard here(mutex_);
    if (done_until_ < asked_) run_thread();
    if (done_until_ < asked_ || taken_ == asked_) return false;
    taken_ = asked_;
    return true;
}

void cache_cleaner::clean() {
    for (uint64_t asked = 0;;) {
        {
            const std::lock_guard here(mutex_);
            done_until_ = asked;
            runs_ = asked != asked_;
            if (!runs_) break;
            asked = asked_;
        }
        // A file system that cannot be synced has no cache that could be waited for.
        const descriptor folder(::open(mount_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder) ::syncfs(folder.get());
    }
    const uint64_t one = 1;
    static_cast<void>(::write(done_, &one, sizeof one) == sizeof one);
}

}  // namespace halcyon::coordinate
