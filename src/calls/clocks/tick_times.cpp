#include "calls/clocks/tick_times.hpp"

#include "base/clock.hpp"
#include "calls/clocks/ticks.hpp"

namespace halcyon::calls {

namespace {

constexpr int64_t first_measure_ns = 50'000;  // right to some 0.1 %
constexpr int64_t longer_each_time = 10;

struct moment {
    int64_t ticks;
    int64_t ns;
};

/// Of a few takes the one that was interrupted least.
moment now_in_both() {
    moment best{};
    int64_t least = INT64_MAX;
    for (int take = 0; take < 5; ++take) {
        const int64_t before = ticks();
        const int64_t ns = monotonic_ns();
        const int64_t after = ticks();
        if (after - before >= least) continue;
        least = after - before;
        best = {before + least / 2, ns};
    }
    return best;
}

}  // namespace

void tick_times::start() {
    current_ = 0;
    measuring_ = false;
    measures_[0] = {};
    if (!counter_is_steady) return;
    const moment first = now_in_both();
    moment then = now_in_both();
    while (then.ns - first.ns < first_measure_ns) then = now_in_both();
    first_ticks_ = first.ticks;
    first_ns_ = first.ns;
    const double ns_per_tick = static_cast<double>(then.ns - first.ns) / static_cast<double>(then.ticks - first.ticks);
    const auto until = static_cast<int64_t>(1e6 / ns_per_tick);
    measures_[0] = {first.ticks, first.ns, ns_per_tick, first.ticks + until};
}

int64_t tick_times::now() {
    return ns(ticks());
}

int64_t tick_times::ns_after_measuring(int64_t ticks) {
    const uint32_t index = current_.load(std::memory_order_acquire);
    const measure& held = measures_[index];
    if (ticks <= held.until || measuring_.exchange(true)) return held.at(ticks);
    if (current_.load() == index) {
        const moment here = now_in_both();
        const int64_t passed = here.ticks - first_ticks_;
        measure& next = measures_[index + 1];
        next.ns_per_tick = static_cast<double>(here.ns - first_ns_) / static_cast<double>(passed);
        next.ticks = here.ticks;
        next.ns = held.at(here.ticks);
        next.until = index + 2 == most ? INT64_MAX : first_ticks_ + passed * longer_each_time;
        current_.store(index + 1, std::memory_order_release);
    }
    measuring_.store(false);
    return measures_[current_.load()].at(ticks);
}

}  // namespace halcyon::calls
