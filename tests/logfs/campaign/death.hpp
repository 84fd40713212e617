#pragma once

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <string_view>

#include "board.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs::campaign {

/// SIGKILL for this process: behind so many steps, which are the moments before and behind its system calls and those
/// that a writer names, or at a moment of the clock, wherever it is then.
class death {
  public:
    explicit death(place& of) : place_(of) {}

    /// Some while the process opens the file, most while it works.
    void draw(std::mt19937_64& random, bool by_clock) {
        const bool is_early = random() % 4 == 0;
        if (by_clock)
            set_clock(random() % (is_early ? 1'000'000 : 15'000'000));
        else
            steps_ = 1 + static_cast<int64_t>(random() % (is_early ? 100 : 1600));
    }
    void step(std::string_view name) {
        if (steps_ == 0 || --steps_ > 0) return;
        name.copy(place_.last_step, sizeof place_.last_step - 1);
        ::kill(::getpid(), SIGKILL);
    }
    /// Also one for each call of a container.
    void watch(tests::watched_files& calls) {
        calls.before = [this](std::string_view call, int64_t) {
            step(call);
            return 0;
        };
        calls.behind = [this](std::string_view call) { step(call); };
    }

  private:
    void set_clock(uint64_t ns) {
        std::string_view("at a moment").copy(place_.last_step, sizeof place_.last_step - 1);
        sigevent by_kill{};
        by_kill.sigev_notify = SIGEV_SIGNAL;
        by_kill.sigev_signo = SIGKILL;
        timer_t timer{};
        if (timer_create(CLOCK_MONOTONIC, &by_kill, &timer) != 0) _exit(9);
        const itimerspec when{{0, 0}, {0, static_cast<long>(ns + 1)}};
        timer_settime(timer, 0, &when, nullptr);
    }

    place& place_;
    int64_t steps_ = 0;  // until then; 0: it lives
};

}  // namespace halcyon::logfs::campaign
