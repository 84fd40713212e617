#include "predict/prefetch/memory_share.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::predict::prefetch {
namespace direct = calls::direct;

namespace {

/// What the kernel calls available; -1: it does not tell.
int64_t available_bytes(int meminfo) {
    if (!calls::descriptors::is_own(meminfo)) return -1;
    char text[512];  // it is the third line
    const long length = direct::call(SYS_pread64, meminfo, direct::address(text), sizeof text - 1, 0);
    text[std::max<long>(length, 0)] = '\0';
    constexpr char name[] = "MemAvailable:";
    const char* const line = std::strstr(text, name);
    if (line == nullptr) return -1;
    int64_t kib = 0;
    for (const char* at = line + sizeof name - 1; *at != '\0' && *at != '\n'; ++at) {
        if (*at >= '0' && *at <= '9') kib = kib * 10 + (*at - '0');
    }
    return kib * 1024;
}

}  // namespace

void memory_share::start(int64_t most_bytes) {
    if (!calls::descriptors::is_own(meminfo_)) {
        meminfo_ = calls::descriptors::open_out_of_the_way("/proc/meminfo", O_RDONLY);
        if (meminfo_ >= 0) calls::descriptors::own(meminfo_);
    }
    wanted_ = most_bytes;
    limit_ = most_bytes;
    taken_ = 0;
    next_look_ns_ = 0;
    for (held& one : holders_) {
        one.thread = 0;
        one.bytes = 0;
    }
}

bool memory_share::take(uint32_t holder, int64_t bytes) {
    if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most()) {
        holders_[holder].bytes.fetch_add(bytes, std::memory_order_relaxed);
        return true;
    }
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
}

/// One that goes on for an ended thread may give back what was taken from that already.
void memory_share::give_back(uint32_t holder, int64_t bytes) {
    std::atomic<int64_t>& of = holders_[holder].bytes;
    bytes = std::min(bytes, of.load(std::memory_order_relaxed));
    of.fetch_sub(bytes, std::memory_order_relaxed);
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
}

void memory_share::look(int64_t now_ns) {
    constexpr int64_t second = 1'000'000'000;
    int64_t due = next_look_ns_.load(std::memory_order_relaxed);
    if (now_ns < due || !next_look_ns_.compare_exchange_strong(due, now_ns + second)) return;
    const int64_t available = available_bytes(meminfo_);
    limit_ = available < 0 ? wanted_ : std::min(wanted_, available / share);
    for (held& one : holders_) {
        if (one.bytes.load(std::memory_order_relaxed) == 0) continue;
        if (!direct::has_ended(one.thread.load())) continue;
        taken_.fetch_sub(one.bytes.exchange(0), std::memory_order_relaxed);
    }
}

}  // namespace halcyon::predict::prefetch
