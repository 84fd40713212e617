#include "calls/backends/hidden_descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "calls/backends/mounts.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::hidden_descriptors {
namespace {

constexpr int capacity = 65536;
constexpr int per_word = 64;
constexpr int enough = 4096;

constinit std::atomic<uint64_t> marks[capacity / per_word] = {};
constinit int first = 0;  // 0: not started
constinit int most = 0;

bool is_in_range(int fd) {
    return fd >= 0 && fd < capacity;
}

uint64_t bit_of(int fd) {
    return uint64_t{1} << (fd % per_word);
}

/// The kernel gives the process a table with room for all of them, as long as it has no threads: else it waits until
/// all processors have noticed, which takes some 10 ms.
void make_room() {
    const int any = direct::open("/", O_PATH | O_CLOEXEC);
    if (any < 0) return;
    if (const int last = direct::duplicate_high(any, first + most - 1); last >= 0) direct::close(last);
    direct::close(any);
}

}  // namespace

void start() {
    if (first != 0) return;
    struct {
        uint64_t now, most;
    } limit{1024, 1024};
    direct::call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, direct::address(&limit));
    if (limit.now < enough && limit.most > limit.now) {
        decltype(limit) raised{std::min<uint64_t>(limit.most, enough), limit.most};
        if (direct::call(SYS_prlimit64, 0, RLIMIT_NOFILE, direct::address(&raised), 0) == 0) limit.now = raised.now;
    }
    const int all = static_cast<int>(std::min<uint64_t>(limit.now, enough));
    first = std::max(all * 3 / 4, 1);
    most = all - first;
    make_room();
}

int hide(int fd) {
    if (fd < 0) return fd;
    const int moved = first == 0 ? -1 : direct::duplicate_high(fd, first);
    if (moved >= 0) direct::close(fd);
    const int hidden = moved >= 0 ? moved : fd;
    // A child of vfork has a number of its own, which is not its parent's.
    if (is_in_range(hidden) && !backends::shares_memory_with_parent())
        marks[hidden / per_word].fetch_or(bit_of(hidden), std::memory_order_relaxed);
    return hidden;
}

int close(int fd) {
    if (is_in_range(fd) && !backends::shares_memory_with_parent()) {
        descriptors::closing(fd);
        marks[fd / per_word].fetch_and(~bit_of(fd), std::memory_order_relaxed);
    }
    return direct::close(fd);
}

bool is_hidden(int fd) {
    return is_in_range(fd) && (marks[fd / per_word].load(std::memory_order_relaxed) & bit_of(fd)) != 0;
}

int next(int fd) {
    for (int at = std::max(fd, 0); at < capacity; at = (at / per_word + 1) * per_word) {
        const uint64_t left = marks[at / per_word].load(std::memory_order_relaxed) >> (at % per_word);
        if (left != 0) return at + std::countr_zero(left);
    }
    return -1;
}

int room() {
    return most;
}

}  // namespace halcyon::calls::hidden_descriptors
