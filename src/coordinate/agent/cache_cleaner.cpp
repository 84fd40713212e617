#include "coordinate/agent/cache_cleaner.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/try_thread.hpp"
#include "coordinate/page/lies_below.hpp"

namespace halcyon::coordinate {

namespace fs = std::filesystem;

namespace {

/// Of what the process has open, something on the file system of the mount, which is `device`.
descriptor open_of_process(int process, const std::string& mount, dev_t device) {
    std::error_code none;
    for (fs::directory_iterator at("/proc/" + std::to_string(process) + "/fd", none), end; !none && at != end;
         at.increment(none)) {
        std::error_code closed;
        const std::string path = fs::read_symlink(at->path(), closed).string();
        if (closed || !lies_below(path, mount)) continue;
        constexpr int harmless = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
        descriptor found(::open(at->path().c_str(), O_RDONLY | harmless));
        if (!found) found = descriptor(::open(at->path().c_str(), O_WRONLY | harmless));
        struct stat about {};
        if (found && ::fstat(found.get(), &about) == 0 && about.st_dev == device) return found;
    }
    return {};
}

descriptor open_on(const std::string& mount, const std::vector<int>& processes) {
    descriptor found(::open(mount.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat about {};
    if (found || ::stat(mount.c_str(), &about) != 0) return found;
    for (const int one : processes) {
        found = open_of_process(one, mount, about.st_dev);
        if (found) break;
    }
    return found;
}

}  // namespace

void cache_cleaner::begin(std::vector<int> processes) {
    const std::lock_guard here(mutex_);
    ++asked_;
    processes_ = std::move(processes);
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

uint64_t cache_cleaner::uncleaned() {
    const std::lock_guard here(mutex_);
    return uncleaned_;
}

void cache_cleaner::clean() {
    bool was_clean = true;
    for (uint64_t asked = 0;;) {
        std::vector<int> processes;
        {
            const std::lock_guard here(mutex_);
            uncleaned_ += was_clean ? 0 : 1;
            done_until_ = asked;
            runs_ = asked != asked_;
            if (!runs_) break;
            asked = asked_;
            processes = processes_;
        }
        const descriptor there = open_on(mount_, processes);
        was_clean = static_cast<bool>(there);
        // A file system that cannot be synced has no cache that could be waited for.
        if (there) ::syncfs(there.get());
    }
    const uint64_t one = 1;
    static_cast<void>(::write(done_, &one, sizeof one) == sizeof one);
}

}  // namespace halcyon::coordinate
