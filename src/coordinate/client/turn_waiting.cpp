#include "coordinate/client/turn_waiting.hpp"

#include <linux/futex.h>

#include <algorithm>
#include <ctime>

#include "calls/state/direct_call.hpp"
#include "coordinate/page/agent_ring.hpp"

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

bool draw_from_lease(page& shared, shared_file_system& here, process_part& part, int64_t bytes, bool must) {
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

bool let_go_if_silent(const page& shared, shared_file_system& here, process_part& part, uint32_t word, int64_t now_ns) {
    const bool no_agent = now_ns - shared.beat_ns.load(std::memory_order_acquire) > shared.patience_ns;
    const bool silent = now_ns - here.heard_ns.load(std::memory_order_acquire) > shared.patience_ns;
    if (!no_agent && !silent) return false;
    uint32_t before = word;
    here.turn.compare_exchange_strong(before,
                                      turn_word::next(word, no_agent ? permission::closed : permission::unasked));
    part.let_silent.fetch_add(1, relaxed);
    return true;
}

void sleep_on_turn(const page& shared, shared_file_system& here, uint32_t word, int64_t waited_ns) {
    const int64_t left_ns = std::max<int64_t>(here.starvation_ns.load(relaxed) - waited_ns, 0);
    const int64_t ns = std::min({longest_sleep_ns, shared.patience_ns / 4, left_ns});
    const timespec limit{ns / 1'000'000'000, ns % 1'000'000'000};
    direct::call(SYS_futex, direct::address(&here.turn), FUTEX_WAIT, word, direct::address(&limit));
}

}  // namespace halcyon::coordinate
