#include "coordinate/storing/mount_turn.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/protocol/operation.hpp"

namespace halcyon::coordinate {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

void mount_turn::expect(int64_t bytes) {
    const std::lock_guard one(telling_);
    to_come_ = std::max<int64_t>(to_come_ + bytes, 0);
    tell(bytes > 0);
}

/// `of_next`: a phase that begins after this moment has these bytes before it, too.
void mount_turn::tell(bool of_next) {
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
void mount_turn::begin_phase() {
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
void mount_turn::count_in(int64_t bytes) {
    part_->under_way.fetch_add(1, std::memory_order_seq_cst);
    part_->moved.fetch_add(bytes, relaxed);
}

void mount_turn::count_out(int64_t bytes) {
    part_->moved.fetch_sub(bytes, relaxed);
    part_->under_way.fetch_sub(1);
}

/// One that waits for its turn: it is counted as under way, except while it sleeps.
class mount_turn::waiting_piece {
  public:
    waiting_piece(mount_turn& of, int64_t bytes, int64_t waited_ns) : of_(of), bytes_(bytes), before_ns_(waited_ns) {}

    std::optional<passage> try_to_go(uint32_t word) {
        if (turn_word::goes_under_lease(word) && draw_from_lease(of_.place(), bytes_, false))
            return passage::under_lease;
        if ((word & (turn_word::holds | turn_word::leased)) != 0) return {};
        of_.count_out(bytes_);
        return passage::unasked;
    }
    waiter_facts facts(int64_t now_ns) { return {.waited_ns = before_ns_ + waited_ns(now_ns)}; }
    void go_out_of_turn(passage) { of_.count_out(bytes_); }
    void leave_for_wait(int64_t now_ns) {
        if (began_ns_ == 0) began_ns_ = now_ns;
        of_.part_->waiting.fetch_add(1);  // before it is taken out of those under way: never neither
        of_.count_out(bytes_);
        ring_agent(*of_.shared_);
    }
    bool come_back() {
        of_.count_in(bytes_);
        of_.part_->waiting.fetch_sub(1);
        return true;
    }
    [[nodiscard]] int64_t waited_ns(int64_t now_ns) const { return began_ns_ == 0 ? 0 : now_ns - began_ns_; }

  private:
    mount_turn& of_;
    int64_t bytes_;
    int64_t before_ns_;
    int64_t began_ns_ = 0;
};

passage mount_turn::take(int64_t bytes, int64_t& waited_ns) {
    begin_phase();
    part_->operation.store(static_cast<uint32_t>(operation::write), relaxed);
    count_in(bytes);
    waiting_piece one(*this, bytes, waited_ns);
    const passage how = *wait_for_turn(place(), one);
    const int64_t this_time_ns = one.waited_ns(monotonic_ns());
    waited_ns += this_time_ns;
    part_->waited_ns.fetch_add(this_time_ns, relaxed);
    const std::lock_guard lock(telling_);
    if (foretold_) tell(false);
    return how;
}

void mount_turn::give(int64_t bytes, passage how) {
    if (how == passage::under_lease)
        part_->under_way.fetch_sub(1, std::memory_order_release);
    else
        part_->unasked.fetch_add(bytes, relaxed);
    last_end_ns_.store(monotonic_ns(), relaxed);
    const std::lock_guard one(telling_);
    to_come_ = std::max<int64_t>(to_come_ - bytes, 0);
}

}  // namespace halcyon::coordinate
