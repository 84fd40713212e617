#include "predict/prefetch/asker.hpp"

#include <linux/futex.h>
#include <time.h>

#include <algorithm>
#include <bit>

#include "calls/state/direct_call.hpp"

namespace halcyon::predict::prefetch {
namespace direct = calls::direct;

namespace {

/// Pages of a range that are in the page cache; -1: this kernel does not tell (before Linux 6.5).
int64_t cached_pages(int descriptor, int64_t offset, int64_t bytes) {
    constexpr long cachestat = 451;  // on all architectures
    const struct { uint64_t offset, bytes; } range{static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes)};
    struct {
        uint64_t cached, dirty, written_back, evicted, recently_evicted;
    } found{};
    const long result = direct::call(cachestat, descriptor, direct::address(&range), direct::address(&found), 0);
    return result == 0 ? static_cast<int64_t>(found.cached) : -1;
}

int64_t processor_ns() {
    timespec now{};
    direct::call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, direct::address(&now));
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

bool asker::wake(uint32_t number) {
    pending_[number / 64].fetch_or(uint64_t{1} << number % 64);
    uint32_t found = asleep;
    if (state_.compare_exchange_strong(found, awake)) {
        direct::call(SYS_futex, direct::address(&state_), FUTEX_WAKE_PRIVATE, 1);
        return true;
    }
    if (found == awake) return true;
    found = ended;
    if (!state_.compare_exchange_strong(found, awake)) return true;
    const auto answer = thread_.start(run, this);
    if (answer != calls::own_thread::answer::started) state_.store(ended);
    return answer != calls::own_thread::answer::refused;
}

void asker::forget() {
    thread_.forget();
    state_ = ended;
    for (auto& some : pending_) some = 0;
    for (source& one : sources_) {
        one.requests = nullptr;
        one.worked_ns = 0;
    }
}

void asker::run(void* self) {
    auto& here = *static_cast<asker*>(self);
    do {
        while (here.drain()) continue;
    } while (here.wait_for_more());
}

/// False when there was nothing to do.
bool asker::drain() {
    bool found = false;
    for (size_t i = 0; i < pending_.size(); ++i) {
        for (uint64_t some = pending_[i].exchange(0); some != 0; some &= some - 1) {
            source& from = sources_[i * 64 + static_cast<size_t>(std::countr_zero(some))];
            const int64_t begin = processor_ns();
            from.requests.load()->each(ask);
            from.worked_ns.fetch_add(processor_ns() - begin, std::memory_order_relaxed);
            found = true;
        }
    }
    return found;
}

/// False: there was nothing for so long that the thread ends.
bool asker::wait_for_more() {
    const auto nothing_pending = [this] {
        return std::all_of(pending_.begin(), pending_.end(), [](const auto& some) { return some.load() == 0; });
    };
    state_.store(asleep);
    const timespec limit{patience_ns / 1'000'000'000, patience_ns % 1'000'000'000};
    long result = 0;
    while (nothing_pending() && state_.load() == asleep && result != -ETIMEDOUT)
        result = direct::call(SYS_futex, direct::address(&state_), FUTEX_WAIT_PRIVATE, asleep, direct::address(&limit));
    uint32_t found = asleep;
    const uint32_t next = result == -ETIMEDOUT && nothing_pending() ? ended : awake;
    if (!state_.compare_exchange_strong(found, next) || next == awake) return true;
    // Once more, for one who saw us asleep no longer and could not start us again yet.
    if (nothing_pending()) return false;
    found = ended;
    return state_.compare_exchange_strong(found, awake);
}

outcome asker::ask(const request& wanted) {
    int64_t file_bytes = 0;
    if (!open_files::is_same(wanted.where, file_bytes)) return outcome::other_file;
    const int64_t end = std::min(wanted.offset + wanted.bytes, file_bytes);
    if (end <= wanted.offset) return outcome::beyond_end;
    constexpr int64_t page = 4096;  // the smallest: larger ones never make it look cached
    const int64_t first = wanted.offset / page * page;
    const int64_t pages = (end - first + page - 1) / page;
    if (cached_pages(wanted.where.descriptor, first, pages * page) >= pages) return outcome::cached;
    for (int64_t at = first; at < end; at += most_at_once) {
        const long bytes = std::min(most_at_once, end - at);
        if (direct::call(SYS_fadvise64, wanted.where.descriptor, at, bytes, POSIX_FADV_WILLNEED) != 0)
            return at == first ? outcome::refused : outcome::asked;
    }
    return outcome::asked;
}

}  // namespace halcyon::predict::prefetch
