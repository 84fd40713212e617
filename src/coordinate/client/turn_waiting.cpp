#include "coordinate/client/turn_waiting.hpp"

#include <linux/futex.h>

#include <algorithm>
#include <ctime>

#include "calls/state/direct_call.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/held_locks.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
/// Between looks at locks and beats; a change of the turn wakes at once.
constexpr int64_t longest_sleep_ns = 50'000'000;
constexpr int64_t least_chunk = int64_t{16} << 10U, most_chunk = int64_t{1} << 20U;
/// Chunks of a lease for each process, and for how many at least: what one draws and does not move, others lack.
constexpr int64_t chunks_each = 4, least_processes = 8;

}  // namespace

bool draw_from_lease(const turn_place& at, int64_t bytes, bool must) {
    const auto& [shared, here, part] = at;
    const int64_t missing = part.moved.load(relaxed) - part.limit.load(relaxed);
    if (missing <= 0) return true;
    const int64_t sharing = std::max<int64_t>(shared.tried.load(relaxed), least_processes);
    int64_t left = here.pool.load(relaxed), chunk = 0;
    // In one step: the agent may put another lease into the pool meanwhile, to which nothing may be given back.
    do {
        if (left <= 0 && !must && bytes > 0) {
            ring_agent(shared);
            return false;
        }
        chunk = std::max(missing, std::clamp(left / (chunks_each * sharing), least_chunk, most_chunk));
    } while (!here.pool.compare_exchange_weak(left, left - chunk));
    const int64_t half = here.ring_below.load(relaxed);
    if (left > half && left - chunk <= half) ring_agent(shared);
    part.limit.fetch_add(chunk, relaxed);
    return true;
}

std::optional<passage> reason_to_go_on(const turn_place& at, const waiter_facts& of) {
    if (of.is_needed) {
        at.part.let_others.fetch_add(1, relaxed);
        return passage::needed;
    }
    if (of.has_starved || of.waited_ns >= at.here.starvation_ns.load(relaxed)) {
        at.part.let_starving.fetch_add(1, relaxed);
        return passage::starving;
    }
    const bool locked =
        of.locks_of != nullptr ? held_locks::may_hold_any(*of.locks_of) : held_locks::may_anybody_hold_any(at.shared);
    if (!locked) return {};
    at.part.let_locks.fetch_add(1, relaxed);
    return passage::locked;
}

bool let_go_if_silent(const turn_place& at, uint32_t word, int64_t now_ns) {
    const auto& [shared, here, part] = at;
    const bool no_agent = now_ns - shared.beat_ns.load(std::memory_order_acquire) > shared.patience_ns;
    const bool silent = now_ns - here.heard_ns.load(std::memory_order_acquire) > shared.patience_ns;
    if (!no_agent && !silent) return false;
    uint32_t before = word;
    here.turn.compare_exchange_strong(before,
                                      turn_word::next(word, no_agent ? permission::closed : permission::unasked));
    part.let_silent.fetch_add(1, relaxed);
    return true;
}

void sleep_on_turn(const turn_place& at, uint32_t word, int64_t waited_ns) {
    const int64_t left_ns = std::max<int64_t>(at.here.starvation_ns.load(relaxed) - waited_ns, 0);
    const int64_t ns = std::min({longest_sleep_ns, at.shared.patience_ns / 4, left_ns});
    const timespec limit{ns / 1'000'000'000, ns % 1'000'000'000};
    direct::call(SYS_futex, direct::address(&at.here.turn), FUTEX_WAIT, word, direct::address(&limit));
}

}  // namespace halcyon::coordinate
