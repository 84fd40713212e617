#include "calls/state/process_state.hpp"

#include <sys/mman.h>

#include "calls/backends/mounts.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/stacks/contexts.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/left_calls.hpp"

namespace halcyon::calls {
namespace {

// Outlives fork: a child's generation is its parent's plus one.
constinit std::atomic<uint32_t> last_generation{0};

}  // namespace

constinit process_page_type process_page{};
constinit thread_local thread_state this_thread_state{};

bool counter_is_steady = false;

void choose_tick_source() {
#if defined(__x86_64__)
    char name[16] = {};
    const int fd =
        direct::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    direct::read(fd, name, sizeof name - 1);
    direct::close(fd);
    counter_is_steady = std::strncmp(name, "tsc", 3) == 0;
#endif
}

namespace {

/// Waits while another thread starts the recording; not when that is what a handler in this very thread interrupted.
bool started_by_other(process_state& process) {
    constexpr int longest = 1'000'000;
    constexpr int until_known = 1000;
    const int own = direct::thread_id();
    for (int tries = 0; tries < longest; ++tries) {
        const uint32_t phase = process.phase.load(std::memory_order_acquire);
        if (phase == process_state::recording) return true;
        if (phase == process_state::off) return false;
        const int starter = process.starter.load(std::memory_order_relaxed);
        if (starter == own || (starter == 0 && tries > until_known)) break;
        direct::yield();
    }
    process.unrecorded.fetch_add(1, std::memory_order_relaxed);
    return false;
}

bool start_here(process_state& process) {
    process.starter = direct::thread_id();
    direct::call(SYS_madvise, direct::address(&process_page), sizeof process_page, MADV_WIPEONFORK);
    process.process_id = direct::process_id();
    process.generation = last_generation.fetch_add(1) + 1;
    descriptors::after_fork();
    known_files::after_fork();
    thread_state& thread = this_thread();
    ++thread.inside;
    choose_tick_source();
    start_layers(process.layers);
    process.paths = process.places = false;
    bool below = false;
    process.layers.each([&](const layer& l) {
        process.paths = process.paths || l.wants_paths();
        process.places = process.places || l.wants_places();
        below = below || l.wants_calls_below();
    });
    process.below.store(below, std::memory_order_relaxed);
    contexts::start();
    --thread.inside;
    const bool wanted = !process.layers.empty();
    process.phase.store(wanted ? process_state::recording : process_state::off, std::memory_order_release);
    return wanted;
}

}  // namespace

bool start_recording() {
    if (!can_start_layers()) return false;
    // Here, for a program whose first call is one of streams: none of these asks for backends.
    static_cast<void>(backends::present());
    process_state& process = process_page.state;
    {
        const blocked_signals whole;  // a start that a handler jumps out of would be waited for for ever
        uint32_t expected = process_state::asleep;
        if (process.phase.compare_exchange_strong(expected, process_state::starting)) return start_here(process);
    }
    return started_by_other(process);
}

bool is_own_process() {
    return process_page.state.process_id == direct::process_id();
}

void adopt_thread(thread_state& thread) {
    const uint32_t index = process_page.state.threads.fetch_add(1);
    thread.number = 0;
    thread.inside = 0;
    thread.current = 0;
    thread.function = 0;
    thread.held = nullptr;
    thread.descriptor = -1;
    thread.unfinished.store(nullptr, std::memory_order_relaxed);
    // In this order: the handler of a signal that makes calls in between adopts the thread itself, under another index,
    // and no number may come twice under one.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.index = index;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.generation = process_page.state.generation;
}

bool may_record(thread_state& thread) {
    if ((thread.inside & vforked) != 0 && is_own_process()) thread.inside &= ~vforked;
    if (thread.inside == 0) return true;
    process_page.state.unrecorded.fetch_add(1, std::memory_order_relaxed);
    return false;
}

constinit std::atomic<left_calls_teller> tell_of_left_calls = nullptr;

void leave_calls() {
    thread_state& thread = this_thread_state;
    const left_calls_teller tell = tell_of_left_calls.load(std::memory_order_acquire);
    if (thread.current != 0 && tell != nullptr) tell();
    if (thread.current != 0) process_page.state.left.fetch_add(1, std::memory_order_relaxed);
    thread.current = 0;
    thread.function = 0;
    if ((thread.inside & ~vforked) == 0) return;
    // The call that was being recorded never will be.
    process_page.state.unrecorded.fetch_add(1, std::memory_order_relaxed);
    uint32_t own = lock_name(thread);
    if (thread.held != nullptr) thread.held->compare_exchange_strong(own, 0, std::memory_order_release);
    thread.held = nullptr;
    if (int64_t* const place = thread.unfinished.exchange(nullptr, std::memory_order_relaxed))
        std::atomic_ref(*place).store(abandoned, std::memory_order_release);
    thread.inside &= vforked;
}

}  // namespace halcyon::calls
