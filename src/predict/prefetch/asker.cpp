#include "predict/prefetch/asker.hpp"

#include <algorithm>
#include <bit>

#include "calls/clocks/processor_time.hpp"
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

}  // namespace

bool asker::wake(uint32_t number) {
    pending_[number / 64].fetch_or(uint64_t{1} << number % 64);
    return thread_.wake(work, this);
}

void asker::forget() {
    thread_.forget();
    for (auto& some : pending_) some = 0;
    for (source& one : sources_) {
        one.requests = nullptr;
        one.worked_ns = 0;
    }
}

int64_t asker::work(void* self) {
    auto& here = *static_cast<asker*>(self);
    while (here.drain()) continue;
    return calls::woken_thread::only_woken;
}

/// False when there was nothing to do.
bool asker::drain() {
    bool found = false;
    for (size_t i = 0; i < pending_.size(); ++i) {
        for (uint64_t some = pending_[i].exchange(0); some != 0; some &= some - 1) {
            source& from = sources_[i * 64 + static_cast<size_t>(std::countr_zero(some))];
            const int64_t begin = calls::processor_ns();
            from.requests.load()->each(ask);
            from.worked_ns.fetch_add(calls::processor_ns() - begin, std::memory_order_relaxed);
            found = true;
        }
    }
    return found;
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
