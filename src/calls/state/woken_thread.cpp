#include "calls/state/woken_thread.hpp"

#include <linux/futex.h>
#include <time.h>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

bool woken_thread::wake(work what, void* of) {
    rung_.store(true);
    uint32_t found = asleep;
    if (state_.compare_exchange_strong(found, awake)) {
        direct::call(SYS_futex, direct::address(&state_), FUTEX_WAKE_PRIVATE, 1);
        return true;
    }
    if (found == awake) return true;
    found = ended;
    if (!state_.compare_exchange_strong(found, awake)) return true;
    work_ = what;
    of_ = of;
    const auto answer = thread_.start(run, this);
    if (answer != own_thread::answer::started) state_.store(ended);
    return answer != own_thread::answer::refused;
}

void woken_thread::forget() {
    thread_.forget();
    state_ = ended;
    rung_ = false;
}

void woken_thread::run(void* self) {
    auto& here = *static_cast<woken_thread*>(self);
    int64_t again_ns = only_woken;
    do {
        do {
            here.rung_.store(false);
            again_ns = here.work_(here.of_);
        } while (here.rung_.load());
    } while (here.wait_for_more(again_ns));
}

/// False: there was nothing for so long that the thread ends.
bool woken_thread::wait_for_more(int64_t again_ns) {
    state_.store(asleep);
    const int64_t most_ns = again_ns == only_woken ? patience_ns : again_ns;
    const timespec limit{most_ns / 1'000'000'000, most_ns % 1'000'000'000};
    long result = 0;
    while (!rung_.load() && state_.load() == asleep && result != -ETIMEDOUT)
        result = direct::call(SYS_futex, direct::address(&state_), FUTEX_WAIT_PRIVATE, asleep, direct::address(&limit));
    uint32_t found = asleep;
    const bool ends = again_ns == only_woken && result == -ETIMEDOUT && !rung_.load();
    if (!state_.compare_exchange_strong(found, ends ? ended : awake) || !ends) return true;
    // Once more, for one who saw us asleep no longer and could not start us again yet.
    if (!rung_.load()) return false;
    found = ended;
    return state_.compare_exchange_strong(found, awake);
}

}  // namespace halcyon::calls
