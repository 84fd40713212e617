#include "calls/state/held_signals.hpp"

#include <signal.h>
#include <time.h>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

namespace {

constexpr size_t all_signals = 8;  // bytes of the kernel's set
constexpr uint64_t both = uint64_t{1} << (SIGPIPE - 1) | uint64_t{1} << (SIGXFSZ - 1);

}  // namespace

held_signals::held_signals() {
    direct::call(SYS_rt_sigprocmask, SIG_BLOCK, direct::address(&both), direct::address(&mask_before_), all_signals);
    direct::call(SYS_rt_sigpending, direct::address(&pending_before_), all_signals);
}

held_signals::~held_signals() {
    const uint64_t ours = both & ~pending_before_;
    const timespec now{};
    while (ours != 0 &&
           direct::call(SYS_rt_sigtimedwait, direct::address(&ours), 0, direct::address(&now), all_signals) > 0)
        continue;
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&mask_before_), 0, all_signals);
}

}  // namespace halcyon::calls
