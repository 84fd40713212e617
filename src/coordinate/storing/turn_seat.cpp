#include "coordinate/storing/turn_seat.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "coordinate/client/turn_waiting.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/held_locks.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/protocol/operation.hpp"

namespace halcyon::coordinate {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

void turn_seat::expect(int64_t bytes) {
    const std::lock_guard one(telling_);
    to_come_ = std::max<int64_t>(to_come_ + bytes, 0);
    tell(bytes > 0);
}

/// `of_next`: a phase that begins after this moment has these bytes before it, too.
void turn_seat::tell(bool of_next) {
    phase_forecast said;
    said.told_ns = monotonic_ns();
    said.told_bytes = part_->moved.load(relaxed) + part_->unasked.load(relaxed);
    said.bytes_left = to_come_;
    if (of_next) {
        said.next_bytes = to_come_;
        said.next_probability = 1;
    }
    foretold_ = of_next;
    said.write_to(part_->forecast);
}

/// The agent sees a phase where somebody moves or waits; this says when it began.
void turn_seat::begin_phase() {
    const int64_t now_ns = monotonic_ns();
    int64_t before = last_end_ns_.load(relaxed);
    if (now_ns - before <= shared_->pause_ns || part_->under_way.load(relaxed) != 0 ||
        part_->waiting.load(relaxed) != 0 || !last_end_ns_.compare_exchange_strong(before, now_ns))
        return;
    part_->begun_ns.store(now_ns, relaxed);
    part_->begun.fetch_add(1);
    ring_agent(*shared_);
}

/// As the protocol of process_part has it: first the piece is counted, then the turn is read.
bool turn_seat::sit_down(int64_t bytes) {
    part_->under_way.fetch_add(1, std::memory_order_seq_cst);
    const uint32_t word = here_->turn.load(std::memory_order_seq_cst);
    const int64_t before = part_->moved.fetch_add(bytes, relaxed);
    return turn_word::goes_under_lease(word) && before + bytes <= part_->limit.load(relaxed);
}

turn_seat::passage turn_seat::take(int64_t bytes, int64_t& waited_ns) {
    begin_phase();
    part_->operation.store(static_cast<uint32_t>(operation::write), relaxed);
    bool goes = sit_down(bytes);
    const bool waits = !goes;
    passage how = passage::under_lease;
    const int64_t began_ns = monotonic_ns();
    while (!goes) {
        const uint32_t word = here_->turn.load(std::memory_order_seq_cst);
        if (turn_word::goes_under_lease(word)) {
            goes = draw_from_lease(*shared_, *here_, *part_, bytes, false);
            if (goes) break;
        }
        const int64_t now_ns = monotonic_ns();
        if ((word & (turn_word::holds | turn_word::leased)) == 0) {
            how = passage::silence;
        } else if (waited_ns + now_ns - began_ns >= here_->starvation_ns.load(relaxed)) {
            how = passage::starvation;
            part_->let_starving.fetch_add(1, relaxed);
        } else if (held_locks::may_anybody_hold_any(*shared_)) {
            how = passage::lock;
            part_->let_locks.fetch_add(1, relaxed);
        }
        if (how != passage::under_lease) {
            part_->moved.fetch_sub(bytes, relaxed);
            part_->under_way.fetch_sub(1);
            break;
        }
        if (let_go_if_silent(*shared_, *here_, *part_, word, now_ns)) continue;
        part_->waiting.fetch_add(1);  // before it is taken out of those under way: never neither
        part_->moved.fetch_sub(bytes, relaxed);
        part_->under_way.fetch_sub(1);
        ring_agent(*shared_);
        sleep_on_turn(*shared_, *here_, word, waited_ns + now_ns - began_ns);
        goes = sit_down(bytes);
        part_->waiting.fetch_sub(1);
    }
    if (waits) {
        const int64_t this_time_ns = monotonic_ns() - began_ns;
        waited_ns += this_time_ns;
        part_->waited_ns.fetch_add(this_time_ns, relaxed);
    }
    const std::lock_guard one(telling_);
    if (foretold_) tell(false);
    return how;
}

void turn_seat::give(int64_t bytes, passage how) {
    if (how == passage::under_lease)
        part_->under_way.fetch_sub(1, std::memory_order_release);
    else
        part_->unasked.fetch_add(bytes, relaxed);
    last_end_ns_.store(monotonic_ns(), relaxed);
    const std::lock_guard one(telling_);
    to_come_ = std::max<int64_t>(to_come_ - bytes, 0);
}

}  // namespace halcyon::coordinate
