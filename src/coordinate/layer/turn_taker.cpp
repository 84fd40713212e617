#include "coordinate/layer/turn_taker.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/clock.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/slot_claim.hpp"

namespace halcyon::coordinate {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Whether the transfers under such a call may belong to a collective that others are in already, or to nobody's wait.
bool moves_in_background(calls::call_id parent) {
    const calls::function_entry& entry = calls::entry_of(static_cast<uint16_t>(parent));
    return entry.at == calls::level::mpiio && (entry.does == calls::kind::wait || calls::never_waits(parent));
}

/// The thread is in another call, at whatever file system, for which a stop there waits: that call ends after this one.
bool is_within_another(const own_calls& own) {
    return std::accumulate(std::begin(own.depth), std::end(own.depth), 0U) > 1;  // this one has entered, too
}

/// No more than are counted: a jump may have left a call that its thread had noted, and not counted yet.
void count_out(std::atomic<uint32_t>& counted, uint32_t calls) {
    uint32_t before = counted.load(relaxed);
    while (!counted.compare_exchange_weak(before, before - std::min(before, calls))) {
    }
}

}  // namespace

void turn_taker::start(page& shared, process_slot& slot, size_t file_system, double ns_per_tick, forecaster& asks) {
    shared_ = &shared;
    here_ = &shared.file_system[file_system];
    slot_ = &slot;
    part_ = &slot.at[file_system];
    asks_ = asks.runs() ? &asks : nullptr;
    forget_program_before(slot, file_system);
    file_system_ = file_system;
    pause_ticks_ = static_cast<int64_t>(static_cast<double>(shared.pause_ns) / ns_per_tick);
    close_ticks_ = pause_ticks_ / 16;
    last_end_ = last_metadata_ = long_ago;
    collectives_ = 0;
    let_go_ = no_wait;
    burst_ = 0;
}

void turn_taker::ring() {
    ring_agent(*shared_);
}

void turn_taker::begin_phase(int64_t now) {
    int64_t before = last_end_.load(relaxed);
    // Calls of other threads that are under way go on with the phase that they began.
    if (now - before <= pause_ticks_ || part_->under_way.load(relaxed) != 0 || part_->waiting.load(relaxed) != 0)
        return;
    if (!last_end_.compare_exchange_strong(before, now)) return;
    part_->begun_ns.store(monotonic_ns(), relaxed);
    part_->begun.fetch_add(1);
    ring();
    if (asks_ == nullptr) return;
    asks_->phase_begins(file_system_, part_->moved.load(relaxed) + part_->unasked.load(relaxed), last_end_, now,
                        pause_ticks_);
}

void turn_taker::begin_round(own_calls& own) {
    const uint64_t round = own.inside + ++own.transfers;
    uint64_t before = part_->round.load(relaxed);
    while (before < round && !part_->round.compare_exchange_weak(before, round)) {
    }
}

/// A handler that jumps within itself looks the same: then the outer call is no longer counted, and does not count
/// itself out.
void turn_taker::forget_calls(own_calls& own) {
    if (own.depth[file_system_] == 0 && own.waits[file_system_] == 0) return;
    count_out(part_->under_way, own.depth[file_system_]);
    count_out(part_->waiting, own.waits[file_system_]);
    own.depth[file_system_] = own.waits[file_system_] = 0;
    ring();
}

/// How the call goes on if the turn is `word`; nothing: it waits.
std::optional<passage> turn_taker::judge(const own_calls& own, uint32_t word, int64_t bytes) {
    const bool held = is_held_by_program();
    // A stop waits for the call around this one, which began under the lease and ends after this one.
    const bool is_of_call_around = own.depth[file_system_] > 1;
    const auto goes = [&] {
        static_cast<void>(draw_from_lease(place(), bytes, true));
        return passage::under_lease;
    };
    if (turn_word::goes_under_lease(word)) {
        if (!draw_from_lease(place(), bytes, held || is_of_call_around)) return {};
        return passage::under_lease;
    }
    if ((word & turn_word::holds) == 0) return passage::unasked;
    if (held) return turn_word::state(word) == permission::waiting ? passage::needed : goes();
    if (is_of_call_around && turn_word::state(word) != permission::waiting) return goes();
    if (turn_word::state(word) != permission::stop || own.inside == rounds::none) return {};
    const uint64_t round = here_->stop_round.load(std::memory_order_acquire);
    if (here_->turn.load(std::memory_order_seq_cst) != word) return {};  // it sleeps for no time
    if (own.inside + own.transfers >= round) return {};
    return goes();
}

void turn_taker::step_back(own_calls& own, int64_t bytes) {
    part_->moved.fetch_sub(bytes, relaxed);
    if (own.depth[file_system_] == 0) return;
    --own.depth[file_system_];
    part_->under_way.fetch_sub(1);
}

void turn_taker::step_forward(own_calls& own, int64_t bytes) {
    ++own.depth[file_system_];
    part_->under_way.fetch_add(1);
    part_->moved.fetch_add(bytes, relaxed);
}

/// One that waits for its turn: it has entered, except while it sleeps.
class turn_taker::waiting_call {
  public:
    waiting_call(turn_taker& of, own_calls& own, int64_t bytes, const calls::call_record& record,
                 const calls::next_call& next)
        : of_(of), own_(own), bytes_(bytes), record_(record), next_(next), process_(own.generation) {}

    std::optional<passage> try_to_go(uint32_t word) {
        const auto how = of_.judge(own_, word, bytes_);
        if (how && how != passage::under_lease) of_.step_back(own_, bytes_);
        return how;
    }
    waiter_facts facts(int64_t now_ns) {
        const calls::call_circumstances about = next_.circumstances(record_);
        waiter_facts known;
        known.waited_ns = began_ns_ == 0 ? 0 : now_ns - began_ns_;
        known.is_needed = !about.may_block || (record_.parent != 0 && moves_in_background(about.parent_function)) ||
                          is_within_another(own_);
        known.has_starved = of_.let_go_.load(relaxed) == of_.current_wait();
        // Whoever holds a lock may need this process to come to where it gives that back. Within a collective call the
        // others need nothing of it but that call.
        if (own_.inside != rounds::none) known.locks_of = of_.slot_;
        return known;
    }
    void go_out_of_turn(passage why) {
        if (why == passage::starving) of_.let_go_.store(of_.current_wait(), relaxed);
        of_.step_back(own_, bytes_);
    }
    void leave_for_wait(int64_t now_ns) {
        if (began_ns_ == 0) {
            began_ns_ = now_ns;
            began_ = calls::ticks();
        }
        of_.part_->waiting.fetch_add(1);  // before it is taken out of those under way: never neither
        ++own_.waits[of_.file_system_];
        of_.step_back(own_, bytes_);
        of_.ring();
    }
    bool come_back() {
        if (is_forked_since(process_)) [[unlikely]]
            return false;
        of_.step_forward(own_, bytes_);
        if (uint8_t& waits = own_.waits[of_.file_system_]; waits > 0) {
            --waits;
            of_.part_->waiting.fetch_sub(1);
        }
        return true;
    }

    [[nodiscard]] bool has_waited() const { return began_ns_ != 0; }
    [[nodiscard]] int64_t began_ns() const { return began_ns_; }
    [[nodiscard]] int64_t began() const { return began_; }  ///< in ticks

  private:
    turn_taker& of_;
    own_calls& own_;
    int64_t bytes_;
    const calls::call_record& record_;
    const calls::next_call& next_;
    uint32_t process_;
    int64_t began_ns_ = 0, began_ = 0;
};

passage turn_taker::pass(own_calls& own, int64_t bytes, calls::call_record& record, const calls::next_call& next) {
    if (asks_ != nullptr) asks_->moved(file_system_, part_->moved.load(relaxed) + part_->unasked.load(relaxed));
    const uint32_t process = own.generation;
    calls::thread_state& thread = calls::this_thread();
    ++thread.inside;  // calls of a handler that interrupts us pass untouched
    waiting_call one(*this, own, bytes, record, next);
    const passage how = *wait_for_turn(place(), one);
    if (is_forked_since(process)) [[unlikely]]
        return how;  // the counts are the parent's, thread.inside is begun anew
    --thread.inside;
    if (one.has_waited()) {
        record.wait += calls::ticks() - one.began();
        part_->waited_ns.fetch_add(monotonic_ns() - one.began_ns(), relaxed);
    }
    return how;
}

bool turn_taker::is_burst(int64_t now) {
    const bool paused = now - last_metadata_.exchange(now, relaxed) > pause_ticks_;
    if (paused) burst_.store(0, relaxed);
    return burst_.fetch_add(1, relaxed) + 1 >= shared_->least_burst;
}

uint64_t turn_taker::begin_collective(own_calls& own) {
    const uint64_t outer = own.inside;
    own.inside = rounds::of(collectives_.fetch_add(1) + 1, 0);
    own.transfers = 0;
    part_->inside.store(own.inside);
    return outer;
}

void turn_taker::end_collective(own_calls& own, uint64_t outer, bool transfers) {
    if (transfers) part_->aggregates.store(own.transfers > 0 ? 1 : 0, relaxed);
    own.inside = outer;
    own.transfers = 0;
    part_->inside.store(outer);
}

}  // namespace halcyon::coordinate
