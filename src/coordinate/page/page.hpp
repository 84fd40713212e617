#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/shared_layout.hpp"
#include "coordinate/page/agent_bell.hpp"
#include "coordinate/page/permission.hpp"

namespace halcyon::coordinate {

/// A file system in the page that the processes of a job on one node share with their agent.
///
/// Written by the agent, read by the processes. There are two exceptions. Processes take bytes from `pool`. A process
/// that hears nothing for `page::patience_ns` replaces a `turn` that holds it by `closed` or `unasked`, by
/// compare-and-swap; the agent, once it runs again, sees a word that is not its own and writes the turn anew.
///
/// `stop_round` belongs to `permission::stop` alone. The agent writes `permission::hold`, then `stop_round`, then
/// `permission::stop`; a process reads the word, the round, and the word once more.
struct alignas(64) shared_file_system {
    std::atomic<uint32_t> turn;        ///< turn_word; processes that wait sleep on it
    uint32_t path_bytes;               ///< constant once processes see the page; 0: there is no such file system
    std::atomic<uint64_t> stop_round;  ///< calls of this round and above wait
    std::atomic<int64_t> ring_below;   ///< who takes the pool to this or below wakes the agent: half is used
    std::atomic<int64_t> heard_ns;     ///< when the coordinator said something last, CLOCK_MONOTONIC
    std::atomic<int64_t> wait_ns;      ///< expected wait of this application, for people
    std::atomic<uint32_t> told;        ///< version of `holders`: odd while the agent changes it
    std::atomic<uint32_t> others_move_version;     ///< odd while other applications move, too; rises with each change
    std::atomic<int64_t> starvation_ns;            ///< no call waits longer
    std::atomic<uint32_t> given;                   ///< turns of the application: rises with each
    std::atomic<uint32_t> no_turn_reason_version;  ///< version of `no_turn_reason`, as of `holders`

    alignas(64) std::atomic<int64_t> pool;  ///< bytes of the lease that no process has taken; may be below 0
    std::atomic<int64_t> in_phase;          ///< jobs that are in a phase, for people; 0: not known
    std::atomic<uint32_t> lists_targets;    ///< 1: the turn is for storage targets that were listed, not for all

    /// Of processes that are gone.
    alignas(64) std::atomic<int64_t> past_moved;
    std::atomic<int64_t> past_unasked;
    std::atomic<uint64_t> past_begun;
    uint64_t unused_past_[5];

    static constexpr size_t longest_path = 512;
    char path[longest_path];   ///< of the mount; constant once processes see the page
    char holders[512];         ///< jobs that have the turn, one a line, for people
    char no_turn_reason[256];  ///< why the coordinator gives no turns, for people; "": not known, or it does

    /// `path`; "": there is no such file system. Ends within the page, whatever a process has written over its length.
    [[nodiscard]] std::string_view mount() const { return {path, std::min<size_t>(path_bytes, longest_path)}; }
};

/// What a process is about to do, by forecast (phase_forecast.hpp). Bytes and times of 0: not known. Written by one
/// thread of the process at a time: the one that has made `version` odd.
struct shared_forecast {
    std::atomic<uint32_t> version;           ///< odd while the process changes it
    std::atomic<uint32_t> next_probability;  ///< in millionths
    std::atomic<int64_t> told_ns;            ///< when, CLOCK_MONOTONIC; 0: never
    std::atomic<int64_t> told_bytes;         ///< moved and unasked by the process then
    std::atomic<int64_t> bytes_left;         ///< of the phase, from then on
    std::atomic<int64_t> left_ns;            ///< likewise, without others
    std::atomic<int64_t> next_in_ns;         ///< from `told_ns` to the next phase
    std::atomic<int64_t> next_deviation_ns;
    std::atomic<int64_t> next_bytes;
    std::atomic<int64_t> next_alone_ns;
    uint64_t unused_;
};

/// What a process does at one file system. Written by the process, read by the agent.
///
/// Before a call, the process adds to `under_way` (and writes `round`), then reads the turn; the agent writes the turn,
/// then reads `under_way` and `round`; each side has a full fence in between. Therefore either the process sees the new
/// turn, or the agent sees the call. A call that has to wait is taken out of `under_way` and added to `waiting`.
struct alignas(64) process_part {
    std::atomic<uint32_t> under_way;  ///< calls that move bytes, and wait for nothing of ours
    std::atomic<uint32_t> waiting;    ///< calls that are held back, and phases that were announced and have no turn
    std::atomic<int64_t> moved;       ///< bytes under leases, those of calls under way included; only rises in the end
    std::atomic<int64_t> limit;       ///< `moved` may come to this before more is taken from the pool
    std::atomic<uint64_t> round;      ///< the highest that it has begun (rounds.hpp); 0: none
    std::atomic<uint64_t> begun;      ///< phases
    std::atomic<int64_t> begun_ns;    ///< the last one, CLOCK_MONOTONIC
    std::atomic<int64_t> unasked;     ///< bytes moved without a lease
    std::atomic<uint64_t> inside;     ///< collective call that it is in (rounds.hpp), as a round; 0: none

    std::atomic<uint32_t> operation;   ///< coordinate::operation of its last transfer
    std::atomic<uint32_t> aggregates;  ///< 1: it moved bytes under its last collective transfer that has ended
    // Calls that were not held back although it was not their turn, by reason.
    std::atomic<uint64_t> let_silent;    ///< nothing was heard
    std::atomic<uint64_t> let_starving;  ///< waited for as long as anybody may
    std::atomic<uint64_t> let_locks;     ///< the process, or another one of the job on this node, held a file lock
    std::atomic<uint64_t> let_others;    ///< may not wait
    std::atomic<int64_t> waited_ns;      ///< of all calls

    shared_forecast forecast;
};

/// What a program says that takes its turns by itself (client/program_turn.hpp) instead of waiting in each call.
/// Written by the process, read by the agent and by the layer of the same process.
struct alignas(64) program_turns {
    struct part {
        std::atomic<uint32_t> held;         ///< turns that were taken and not given back: calls of the layer go on
        std::atomic<uint32_t> forecasts;    ///< 1: `forecast` is the program's, the layer writes none
        std::atomic<int64_t> counted_from;  ///< bytes_of_process() when the first of these turns was taken
        std::atomic<uint32_t> asking;       ///< of process_part::waiting, those that are no calls: phases announced
        std::atomic<uint32_t> blocked;      ///< of these, those for whose turn a thread waits
    };
    std::atomic<uint32_t> layer;  ///< 1: a layer counts what the process moves
    uint32_t unused_;
    /// Of the process, that counts in this place (process_life::program); 0: not known. A process may become another
    /// one, which may not know of Halcyon.
    std::atomic<uint64_t> program;
    /// As `program`: this one is gone, and of its file locks the process has none any more. Written by the agent.
    std::atomic<uint64_t> unlocked_program;
    uint64_t unused_too_[5];
    part at[8];
};

/// The storage targets of the phases that the program of a process has announced by itself and not ended, at one file
/// system (phase_targets.hpp). Written by one thread of the process at a time: the one that has made `version` odd.
/// Read by the agent, which writes `told_version` alone.
struct alignas(64) shared_targets {
    static constexpr size_t most = 160;                  ///< stripes of a Lustre file that has no wide striping
    static constexpr uint32_t not_known = ~uint32_t{0};  ///< of `count`: the phases may use any target

    std::atomic<uint32_t> version;       ///< odd while the process changes the rest
    std::atomic<uint32_t> turns;         ///< phases that were announced and have not ended
    std::atomic<uint32_t> count;         ///< of `at`, of all of these phases together
    std::atomic<uint32_t> told_version;  ///< that the coordinator has heard of
    std::atomic<int64_t> moved_before;   ///< moved and unasked by the process when the first of these phases began
    std::atomic<int64_t> moved_within;   ///< in such phases that have ended, ever
    std::atomic<uint32_t> at[most];      ///< in ascending order
    uint64_t unused_[4];
};

/// The place of one process. `owner` is 0 in a free one, where all the rest is 0, too. A process takes a free one by
/// one compare-and-swap of `owner`, after which it is the only writer of the rest: there is no step at which a process
/// could die and leave something half made. Nobody but the agent gives a place back, once the process is dead: it adds
/// what was counted to `past_…`, sets all the rest to 0, and `owner` last.
struct alignas(64) process_slot {
    std::atomic<uint64_t> owner;  ///< owner_of()
    std::atomic<uint32_t> locks;  ///< file locks that it may hold
    std::atomic<uint32_t> told;   ///< whether it has written its file of facts, as of `by_whom`
    std::atomic<uint64_t> forecasts;
    std::atomic<uint64_t> forecasts_left_out;
    /// Of `locks`, those that another process has taken and this one has a copy of the descriptor of (held_locks.hpp).
    std::atomic<uint32_t> inherited_locks;
    std::atomic<uint32_t> inherited_gone;  ///< 1: all of these were seen given back; whoever sees that may write it

    static constexpr size_t most_inherited = 6;
    std::atomic<int32_t> inherited_from[most_inherited];  ///< their descriptors and 1; 0: none; below 0: not known

    /// Who writes the file of facts of a process (process_facts.hpp).
    enum by_whom : uint32_t {
        nobody_yet,  ///< the agent, if the process dies like that
        itself,      ///< it has done so
        its_agent,   ///< it could not, perhaps since it had changed its user; once it is gone
    };
    static constexpr size_t most_file_systems = 8;
    process_part at[most_file_systems];
    program_turns by_itself;
    shared_targets targets[most_file_systems];

    /// `start_ticks`: when the process began, field 22 of /proc/<pid>/stat; 0: it could not ask. Never 0 as a whole.
    static constexpr uint64_t owner_of(int pid, uint64_t start_ticks) {
        return static_cast<uint64_t>(static_cast<uint32_t>(pid)) << 32U | (start_ticks & UINT32_MAX);
    }
    static constexpr int pid_of(uint64_t owner) { return static_cast<int>(owner >> 32U); }
    static constexpr uint32_t start_of(uint64_t owner) { return static_cast<uint32_t>(owner); }
};

/// The memory that the processes of a job on one node share with their agent. It holds no pointers. All times are in
/// nanoseconds of CLOCK_MONOTONIC.
///
/// `beat_ns` and what is above it are the agent's, written before processes see the page but for `beat_ns` itself.
struct page {
    static constexpr uint64_t expected_magic = 0x3974'6567'6170'6863;  // "chpaget9"
    static constexpr size_t most_processes = 1024;

    uint64_t magic;
    uint64_t bytes;                ///< of the whole page
    uint64_t pid_namespace;        ///< in which numbers of processes are
    uint64_t time_namespace;       ///< whose CLOCK_MONOTONIC all times are of, and when processes began
    int64_t patience_ns;           ///< silence of the agent or the coordinator after which I/O goes on
    int64_t pause_ns;              ///< shorter times without transfers do not begin a new phase
    uint32_t file_systems;         ///< as the agent made the page; see known_file_systems()
    uint32_t least_burst;          ///< metadata calls without a pause in between, from which on they take turns
    std::atomic<int64_t> beat_ns;  ///< when the agent ran last

    agent_bell bell;                ///< processes ring it; the agent sleeps on it
    std::atomic<uint32_t> refused;  ///< processes that found no free place
    std::atomic<uint32_t> tried;    ///< places below this one may be taken; raised before one is
    uint32_t unused_[13];

    shared_file_system file_system[process_slot::most_file_systems];
    process_slot slots[most_processes];

    /// Those of `file_system` that there are. No more than there is room for, whatever a process has written there.
    [[nodiscard]] size_t known_file_systems() const {
        return std::min<size_t>(file_systems, process_slot::most_file_systems);
    }
};

static_assert(are_shared_atomics<uint32_t, uint64_t, int64_t>);
static_assert(has_shared_layout<shared_file_system, 1472, 64>());
static_assert(has_shared_layout<shared_forecast, 80, 8>());
static_assert(has_shared_layout<process_part, 192, 64>());
static_assert(has_shared_layout<program_turns, 64 + 8 * 24, 64>());
static_assert(has_shared_layout<shared_targets, 704, 64>());
static_assert(has_shared_layout<process_slot, 64 + 8 * 192 + 256 + 8 * 704, 64>());
static_assert(offsetof(page, file_system) == 128 && offsetof(page, slots) == 128 + 8 * 1472);
static_assert(has_shared_layout<page, 128 + 8 * 1472 + 1024 * 7488, 64>());

}  // namespace halcyon::coordinate
