#pragma once

#include <signal.h>

#include <cstdint>
#include <initializer_list>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

/// While it lives, no signal's handler runs in this thread: none that would wait for what the thread holds, and none
/// that would jump away from it (siglongjmp) and leave it so for ever. Not blocked are those that a fault of the
/// thread's own raises: blocked ones end the process whatever handler there is.
class blocked_signals {
  public:
    blocked_signals() {
        uint64_t all = ~uint64_t{0};
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) all &= ~(uint64_t{1} << (own - 1));
        direct::call(SYS_rt_sigprocmask, SIG_BLOCK, direct::address(&all), direct::address(&before_), bytes_of_set);
    }
    ~blocked_signals() { direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&before_), 0, bytes_of_set); }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;

  private:
    static constexpr size_t bytes_of_set = 8;  // of the kernel's set
    uint64_t before_ = 0;
};

}  // namespace halcyon::calls
