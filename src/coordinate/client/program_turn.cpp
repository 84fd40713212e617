#include "coordinate/client/program_turn.hpp"

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/process_life.hpp"

namespace halcyon::coordinate {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

int64_t own_bytes() {
    return bytes_of_process(calls::direct::process_id());
}

/// Under a standing turn a call may begin before the coordinator has heard of the phase. If another job came just then,
/// the turn would be called back at once, and a program holds it for longer than a call does: so it waits until its
/// agent has told of the phase, and shows `allowed`.
bool may_begin(uint32_t word) {
    return (word & turn_word::holds) == 0 && turn_word::state(word) != permission::standing;
}

bool is_being_called_back(uint32_t word) {
    const permission state = turn_word::state(word);
    return state == permission::hold || state == permission::stop;
}

}  // namespace

void program_turn::start(page& shared, process_slot& slot, size_t file_system) {
    shared_ = &shared;
    here_ = &shared.file_system[file_system];
    file_system_ = file_system;
    slot_ = &slot;
    part_ = &slot.at[file_system];
    own_ = &slot.by_itself.at[file_system];
}

int64_t program_turn::moved() const {
    return part_->moved.load(relaxed) + part_->unasked.load(relaxed);
}

void program_turn::announce(operation what, const std::optional<phase_forecast>& coming,
                            std::span<const uint32_t> targets) {
    const int64_t now_ns = monotonic_ns();
    counted_before_ = own_bytes();
    part_->operation.store(static_cast<uint32_t>(what), relaxed);
    const bool is_new = part_->under_way.load(relaxed) == 0 && part_->waiting.load(relaxed) == 0;
    if (is_new) part_->begun_ns.store(now_ns, relaxed);
    tell(coming);  // before the agent hears of the phase
    phase_targets(slot_->targets[file_system_]).begin(targets, moved());
    if (is_new) part_->begun.fetch_add(1);
    ask();
    ring_agent(*shared_);
}

void program_turn::tell(const std::optional<phase_forecast>& coming) {
    phase_forecast told = coming ? *coming : phase_forecast{};
    if (coming) {
        told.told_ns = monotonic_ns();
        told.told_bytes = moved();
    }
    told.write_if(part_->forecast, [&] {
        const bool told_before = own_->forecasts.exchange(coming ? 1 : 0) != 0;
        return coming || told_before;
    });
}

void program_turn::add_targets(std::span<const uint32_t> targets) {
    if (phase_targets(slot_->targets[file_system_]).add(targets)) ring_agent(*shared_);
}

/// Where the turn is for all targets, there is nothing to be heard of.
bool program_turn::are_targets_told() const {
    return here_->lists_targets.load(std::memory_order_acquire) == 0 ||
           phase_targets(slot_->targets[file_system_]).are_told();
}

void program_turn::ask() {
    asked_ns_ = monotonic_ns();
    stage_ = stage::asking;
    asks_ = true;
    own_->asking.fetch_add(1);  // before it counts as a wait: never taken for a call
    part_->waiting.fetch_add(1);
}

void program_turn::ask_no_more() {
    if (!asks_) return;
    asks_ = false;
    if (is_blocked_) own_->blocked.fetch_sub(1);
    is_blocked_ = false;
    part_->waiting.fetch_sub(1);
    own_->asking.fetch_sub(1);
}

/// It is the same phase: what was told of it counts on.
void program_turn::ask_again() {
    if (stage_ != stage::asking || asks_) return;
    ask();
    ring_agent(*shared_);
}

/// This thread does nothing else until it has the turn.
void program_turn::block() {
    if (is_blocked_) return;
    is_blocked_ = true;
    own_->blocked.fetch_add(1);
    ring_agent(*shared_);
}

/// `follows`: goes on although the turn is called back, since another process of the application needs this one.
bool program_turn::enter(bool follows) {
    // The turn of another part of the program is this one's, too.
    const bool has_it = own_->held.load() != 0;
    const auto passage_by = [&](uint32_t word) {
        if ((word & turn_word::leased) != 0 || is_being_called_back(word)) return passage::under_lease;
        return (word & turn_word::holds) != 0 ? passage::needed : passage::unasked;
    };
    const auto may = [&](uint32_t word) {
        const bool begins = may_begin(word) && ((word & turn_word::leased) == 0 || are_targets_told());
        return begins || has_it || (follows && is_being_called_back(word));
    };
    if (!may(here_->turn.load(std::memory_order_acquire))) return false;
    part_->under_way.fetch_add(1, std::memory_order_seq_cst);
    const uint32_t word = here_->turn.load(std::memory_order_seq_cst);
    const passage how = passage_by(word);
    if (!may(word) || how != passage::under_lease) part_->under_way.fetch_sub(1);
    if (!may(word)) return false;
    if (how == passage::under_lease) static_cast<void>(draw_from_lease(place(), 0, true));
    hold(how);
    return true;
}

void program_turn::hold(passage how) {
    how_ = how;
    unasked_ += how == passage::unasked ? 1 : 0;
    starving_ += how == passage::starving ? 1 : 0;
    if (own_->held.load() == 0) own_->counted_from.store(counted_before_ ? *counted_before_ : own_bytes());
    own_->held.fetch_add(1);
    stage_ = stage::holding;
    ask_no_more();  // after it came to be under way: never neither
}

/// One that waits for its turn: it counts as one that waits from its announcement on.
class program_turn::waiting_phase {
  public:
    /// `follows`: as of enter(). `until_ns`: others need it then at the latest. `process`: this one, if it may sleep.
    waiting_phase(program_turn& of, bool follows, int64_t until_ns, int process, interruption by)
        : of_(of), follows_(follows), until_ns_(until_ns), process_(process), by_(by) {}

    std::optional<passage> try_to_go(uint32_t /*word*/) {
        if (!of_.enter(follows_)) return {};
        return of_.how_;
    }
    waiter_facts facts(int64_t now_ns) {
        return {.waited_ns = now_ns - of_.asked_ns_, .is_needed = now_ns >= until_ns_};
    }
    void go_out_of_turn(passage why) { of_.hold(why); }
    void leave_for_wait(int64_t) { of_.block(); }
    bool come_back() {
        is_interrupted_ = by_.has_come != nullptr && by_.has_come(by_.of) != 0;
        // A handler of a signal may have forked, in the sleep or in has_come().
        is_in_child_ = calls::direct::process_id() != process_;
        return !is_interrupted_ && !is_in_child_;
    }

    [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }
    [[nodiscard]] bool is_in_child() const { return is_in_child_; }

  private:
    program_turn& of_;
    bool follows_;
    int64_t until_ns_;
    int process_;
    interruption by_;
    bool is_interrupted_ = false, is_in_child_ = false;
};

bool program_turn::try_take() {
    ask_again();
    waiting_phase one(*this, false, INT64_MAX, 0, {});
    return wait_for_turn(place(), one, false).has_value();
}

/// `follows`: as of enter(). After `most_ns` out of turn. False: as of take().
bool program_turn::wait_until_taken(bool follows, int64_t most_ns, interruption by) {
    ask_again();
    const int64_t began_ns = monotonic_ns();
    // What moves in the wait, in other parts of the program, is none of the turn's. Looked at once, when the turn has
    // come: to read the account counts in it, and would seem to move bytes under a turn at another file system.
    counted_before_.reset();
    const int64_t until_ns = most_ns == INT64_MAX ? INT64_MAX : began_ns + most_ns;
    waiting_phase one(*this, follows, until_ns, calls::direct::process_id(), by);
    static_cast<void>(wait_for_turn(place(), one));
    if (one.is_in_child()) return false;
    const int64_t waited_ns = monotonic_ns() - began_ns;
    waited_ns_ += waited_ns;
    part_->waited_ns.fetch_add(waited_ns, relaxed);
    if (!one.is_interrupted()) return true;
    ask_no_more();
    ring_agent(*shared_);
    return false;
}

bool program_turn::take(interruption by) {
    return wait_until_taken(false, INT64_MAX, by);
}

bool program_turn::join(interruption by) {
    return wait_until_taken(true, shared_->patience_ns, by);
}

bool program_turn::is_kept() const {
    if (is_out_of_turn(how_)) return true;
    return (here_->turn.load(std::memory_order_acquire) & turn_word::holds) == 0;
}

bool program_turn::step(interruption by) {
    const bool asks_again =
        how_ != passage::under_lease && turn_word::goes_under_lease(here_->turn.load(std::memory_order_acquire));
    if (is_kept() && !asks_again) return true;
    ask();  // before it is taken out of those under way: never neither
    settle();
    ring_agent(*shared_);
    return take(by);
}

/// What moved since the turn was taken counts, and does so no more. It is added first: the agent, which asks the system
/// for it as long as the turn is held, may see it twice for a moment, but never less than before.
void program_turn::settle() {
    const int64_t from = own_->counted_from.load();
    const bool is_last = own_->held.load() == 1;
    const int64_t moved = is_last && slot_->by_itself.layer.load() == 0 && from >= 0 ? own_bytes() - from : 0;
    const bool leased = how_ == passage::under_lease;
    (leased ? part_->moved : part_->unasked).fetch_add(moved > 0 ? moved : 0, relaxed);
    own_->held.fetch_sub(1);
    if (!leased) return;
    static_cast<void>(draw_from_lease(place(), 0, true));
    part_->under_way.fetch_sub(1, std::memory_order_release);
}

void program_turn::give_back() {
    if (stage_ == stage::asking) ask_no_more();
    if (stage_ == stage::holding) settle();
    if (stage_ == stage::idle) return;
    stage_ = stage::idle;
    phase_targets(slot_->targets[file_system_]).end(moved());
    ring_agent(*shared_);
}

}  // namespace halcyon::coordinate
