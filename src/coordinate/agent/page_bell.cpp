#include "coordinate/agent/page_bell.hpp"

#include <unistd.h>

#include "base/futex.hpp"
#include "base/try_thread.hpp"

namespace halcyon::coordinate {

bool page_bell::start() {
    return thread_.joinable() || try_thread(thread_, [this] { run(); });
}

page_bell::~page_bell() {
    if (!thread_.joinable()) return;
    ends_ = true;
    armed_.fetch_add(1);
    futex_wake(armed_);
    bell_.cancel();
    futex_wake(bell_.word);
    thread_.join();
}

void page_bell::arm() {
    bell_.prepare();
    armed_.fetch_add(1);
    futex_wake(armed_);
}

void page_bell::run() {
    constexpr int64_t longest_ns = 1'000'000'000;
    for (uint32_t seen = 0; !ends_;) {
        const uint32_t armed = armed_.load();
        if (armed == seen) {
            futex_wait(armed_, seen, longest_ns);
            continue;
        }
        seen = armed;
        while (!ends_ && bell_.word.load() == agent_bell::asleep)
            futex_wait(bell_.word, agent_bell::asleep, longest_ns);
        // Also when the loop was awake first: it finds nothing new then.
        const uint64_t one = 1;
        static_cast<void>(::write(ready_, &one, sizeof one) == sizeof one);
    }
}

}  // namespace halcyon::coordinate
