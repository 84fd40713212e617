#pragma once

#include <atomic>
#include <cstdint>

#include "base/own_counter.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/record/layer.hpp"
#include "calls/state/process_state.hpp"
#include "coordinate/client/turn_waiting.hpp"
#include "coordinate/layer/forecaster.hpp"
#include "coordinate/page/page.hpp"
#include "coordinate/page/rounds.hpp"
#include "coordinate/protocol/operation.hpp"

namespace halcyon::coordinate {

/// What a thread knows of its own calls. One for each thread, initial-exec and without destructor.
struct own_calls {
    uint32_t generation;                             ///< of the process that it is of
    uint64_t inside;                                 ///< collective call that it is in, as a round; 0: none
    uint64_t transfers;                              ///< under that one
    uint32_t burst_at;                               ///< file system of its last metadata call, and 1
    uint64_t beside;                                 ///< number of its last call that moved bytes beside others, and 1
    uint8_t depth[process_slot::most_file_systems];  ///< of its calls, in process_part::under_way
    uint8_t waits[process_slot::most_file_systems];  ///< likewise, in process_part::waiting
};

/// A call was interrupted by a handler that forked, and this is the child, which comes back to where its parent was:
/// nothing of the call, which began in the process of `generation`, may be counted here. Until the child's own first
/// call the layer still knows the parent's place in the page, and the parent goes on with the call itself.
[[nodiscard]] inline bool is_forked_since(uint32_t generation) {
    return calls::this_process().generation != generation;
}

/// Takes the turns of one process at one file system. In memory of the process; any thread.
///
/// A call enters; goes on, or waits in pass() until it may; and leaves. enter() adds the call to `under_way` and its
/// bytes to `moved` before it reads the turn (see process_part); pass() takes them away while it waits. When nobody
/// else is there, a call costs three additions in the process' own cache lines, and reads the turn.
class alignas(64) turn_taker {
  public:
    /// `asks`: who is told of phases.
    void start(page& shared, process_slot& slot, size_t file_system, double ns_per_tick, forecaster& asks);
    [[nodiscard]] bool started() const { return part_ != nullptr; }

    /// A call at `now` follows so closely on the one before that the begin of such a call may stand for its end: the
    /// next one sees whether it took longer after all. One that takes longer than a pause then seems to be one; of
    /// several of these, one behind the other, every second one.
    [[nodiscard]] bool follows_closely(int64_t now) const {
        return now - last_end_.load(std::memory_order_relaxed) < close_ticks_;
    }

    /// At `now`. A call with `bytes` to move begins. False: pass() must decide.
    [[nodiscard]] bool enter(own_calls& own, int64_t bytes, operation what, int64_t now) {
        if (now - last_end_.load(std::memory_order_relaxed) > pause_ticks_) [[unlikely]]
            begin_phase(now);
        if (part_->operation.load(std::memory_order_relaxed) != static_cast<uint32_t>(what)) [[unlikely]]
            part_->operation.store(static_cast<uint32_t>(what), std::memory_order_relaxed);
        if (own.inside != rounds::none) [[unlikely]]
            begin_round(own);
        return enter_alike(own, bytes);
    }

    /// At `now`. Whether a call is of the phase and of the operation of the one before: enter_alike() is all of enter()
    /// then, for a thread that is in no collective call.
    [[nodiscard]] bool is_alike(operation what, int64_t now) const {
        return follows_closely(now) && part_->operation.load(std::memory_order_relaxed) == static_cast<uint32_t>(what);
    }
    [[nodiscard]] bool enter_alike(own_calls& own, int64_t bytes) {
        process_part& part = *part_;
        const shared_file_system& here = *here_;
        ++own.depth[file_system_];
        __builtin_prefetch(&here.turn);  // beside the line of `part`: what is read behind the fence is fetched after it
        part.under_way.fetch_add(1, std::memory_order_seq_cst);
        const uint32_t word = here.turn.load(std::memory_order_seq_cst);
        const int64_t before = add_to_own(part.moved, bytes);
        return turn_word::goes_under_lease(word) && before + bytes <= part.limit.load(std::memory_order_relaxed);
    }

    /// The call is not made after all: as if it had not entered.
    void step_back(own_calls& own, int64_t bytes);

    /// Waits, as far as the call must. record.wait grows by that.
    [[gnu::noinline]] passage pass(own_calls& own, int64_t bytes, calls::call_record& record,
                                   const calls::next_call& next);

    /// A call under the lease has asked for so many bytes that it does not move itself.
    void moves_less(int64_t bytes) { part_->moved.fetch_sub(bytes, std::memory_order_relaxed); }

    /// The call is over: it moved `moved` of `bytes`, and ended at `end`.
    void leave(own_calls& own, passage how, int64_t bytes, int64_t moved, int64_t end) {
        if (how == passage::under_lease) [[likely]] {
            if (moved != bytes) [[unlikely]]
                part_->moved.fetch_add(moved - bytes, std::memory_order_relaxed);
            if (own.depth[file_system_] != 0) [[likely]] {
                --own.depth[file_system_];
                add_to_own(part_->under_way, ~uint32_t{0});
            }
        } else {
            part_->unasked.fetch_add(moved, std::memory_order_relaxed);
        }
        last_end_.store(end, std::memory_order_relaxed);
    }

    /// Calls of this thread that are under way or wait will never end: a jump leaves them, or the thread ends.
    void forget_calls(own_calls& own);

    /// For a call that must not begin before its turn, but moves nothing, or is counted at another file system: waits,
    /// and counts the wait.
    void wait_only(own_calls& own, operation what, calls::call_record& record, const calls::next_call& next) {
        const uint32_t process = own.generation;
        const passage how = enter(own, 0, what, calls::ticks()) ? passage::under_lease : pass(own, 0, record, next);
        if (is_forked_since(process)) [[unlikely]]
            return;
        leave(own, how, 0, 0, calls::ticks());
    }

    /// Odd while others move, too, or nobody knows; differs when that has changed since.
    [[nodiscard]] uint32_t others_move_version() const {
        return here_->others_move_version.load(std::memory_order_relaxed);
    }

    /// Bytes that moved in the background of the process.
    void count(int64_t moved) {
        const bool leased = (here_->turn.load(std::memory_order_relaxed) & turn_word::leased) != 0;
        (leased ? part_->moved : part_->unasked).fetch_add(moved, std::memory_order_relaxed);
    }

    /// One more metadata call at `now`: whether it is part of a burst that takes turns.
    bool is_burst(int64_t now);

    /// A collective call of MPI-IO begins; returns the one around it, to be given to end_collective(). `transfers`: it
    /// is one that reads or writes, so that aggregators have moved bytes.
    uint64_t begin_collective(own_calls& own);
    void end_collective(own_calls& own, uint64_t outer, bool transfers);

  private:
    static constexpr uint64_t no_wait = UINT64_MAX;
    static constexpr int64_t long_ago = INT64_MIN / 2;
    class waiting_call;

    /// Calls of one phase that have waited since the application had its turn last.
    [[nodiscard]] uint64_t current_wait() const {
        const auto phase = static_cast<uint32_t>(part_->begun.load(std::memory_order_relaxed));
        return uint64_t{here_->given.load(std::memory_order_relaxed)} << 32U | phase;
    }
    void begin_phase(int64_t now);
    void begin_round(own_calls& own);
    [[nodiscard]] turn_place place() const { return {*shared_, *here_, *part_}; }
    /// The program has taken the turn by itself, and gives it back by itself: its calls must come to there.
    [[nodiscard]] bool is_held_by_program() const {
        return slot_->by_itself.at[file_system_].held.load(std::memory_order_relaxed) != 0;
    }
    [[nodiscard]] std::optional<passage> judge(const own_calls& own, uint32_t word, int64_t bytes);
    void step_forward(own_calls& own, int64_t bytes);
    void ring();

    page* shared_ = nullptr;
    shared_file_system* here_ = nullptr;
    process_slot* slot_ = nullptr;
    process_part* part_ = nullptr;
    forecaster* asks_ = nullptr;  ///< null: there are no forecasts
    size_t file_system_ = 0;
    int64_t pause_ticks_ = 0, close_ticks_ = 0;
    std::atomic<int64_t> last_end_{long_ago};  ///< of a transfer, in ticks
    std::atomic<uint64_t> collectives_{0};
    std::atomic<uint64_t> let_go_{no_wait};  ///< the one that has taken as long as any may
    std::atomic<int64_t> last_metadata_{long_ago};
    std::atomic<uint32_t> burst_{0};  ///< metadata calls without a pause in between
};

}  // namespace halcyon::coordinate
