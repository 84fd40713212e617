#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "coordinate/page/page.hpp"

/// What those who wait for a turn do with the page, be it in a call or between two: within the application, by direct
/// system calls. Calls of an application (layer/turn_taker.hpp), pieces of a file that is stored
/// (storing/mount_turn.hpp) and phases of a program (client/program_turn.hpp) wait in the same loop.
namespace halcyon::coordinate {

/// How one that asks for the turn comes to go on.
enum class passage : uint8_t {
    under_lease,  ///< counted in process_part::moved and under_way
    unasked,      ///< nobody gives turns, or nobody answers
    // Out of turn: it is not the application's turn, but
    needed,    ///< others may wait for it, or its program has taken a turn that was taken away
    starving,  ///< it has waited for as long as any may
    locked,    ///< a process of the job on this node holds a file lock, for which others may wait
};
constexpr bool is_out_of_turn(passage how) {
    return how != passage::under_lease && how != passage::unasked;
}

/// Where one process asks for turns.
struct turn_place {
    page& shared;
    shared_file_system& here;
    process_part& part;
};

/// Of one that waits.
struct waiter_facts {
    int64_t waited_ns = 0;
    bool is_needed = false;            ///< others may wait for it
    bool has_starved = false;          ///< another one of the same phase has waited for as long as any may
    process_slot* locks_of = nullptr;  ///< whose file locks count; null: those of all processes in the page
};

/// Takes bytes from the lease until those that the process has moved are covered. False: none are left for the `bytes`
/// of a call; with `must` also then true, since the call goes on in any case.
bool draw_from_lease(const turn_place& at, int64_t bytes, bool must);

/// Why one goes on out of turn, which is counted in the page; nothing: it has to wait.
std::optional<passage> reason_to_go_on(const turn_place& at, const waiter_facts& of);

/// If nothing was heard of the agent or the coordinator for too long, nobody waits any more until something is:
/// replaces the turn `word`, and counts.
bool let_go_if_silent(const turn_place& at, uint32_t word, int64_t now_ns);

/// Sleeps while the turn is `word`, until the starvation limit of one who has waited for `waited_ns` at most. Wakes now
/// and then, for looks at locks and beats.
void sleep_on_turn(const turn_place& at, uint32_t word, int64_t waited_ns);

/// `one` goes on as soon as it may: returns how, or nothing where it would have to sleep, and `sleeps` is false. It has
///
///     optional<passage> try_to_go(word)   goes on if the turn, which was `word`, lets it
///     waiter_facts facts(now_ns)
///     void go_out_of_turn(passage)
///     void leave_for_wait(now_ns)         before a sleep: from now on the agent sees it wait
///     bool come_back()                    after it. False: interrupted, or in a child that was forked off there
template <class Waiter>
std::optional<passage> wait_for_turn(const turn_place& at, Waiter& one, bool sleeps = true) {
    for (;;) {
        const uint32_t word = at.here.turn.load(std::memory_order_seq_cst);
        if (const auto how = one.try_to_go(word)) return how;
        const int64_t now_ns = monotonic_ns();
        const waiter_facts facts = one.facts(now_ns);
        if (const auto why = reason_to_go_on(at, facts)) {
            one.go_out_of_turn(*why);
            return why;
        }
        if (let_go_if_silent(at, word, now_ns)) continue;
        if (!sleeps) return {};
        one.leave_for_wait(now_ns);
        sleep_on_turn(at, word, facts.waited_ns);
        if (!one.come_back()) return passage::unasked;
    }
}

}  // namespace halcyon::coordinate
