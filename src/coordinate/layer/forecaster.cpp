#include "coordinate/layer/forecaster.hpp"

#include <linux/futex.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "calls/clocks/processor_time.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr int64_t longest_sleep_ns = 100'000'000;  // in a phase
/// Less than this beyond a forecast is no reason to ask; in each phase it doubles with each question.
constexpr int64_t least_beyond_bytes = int64_t{64} << 10U;

int64_t a_quarter_more(int64_t than) {
    return than + than / 4;
}

}  // namespace

void forecaster::start(page& shared, process_slot& slot, const file_mounts& files, coming_io::source forecasts,
                       const budget& allowed) {
    thread_.forget();
    shared_ = &shared;
    slot_ = &slot;
    files_ = &files;
    forecasts_ = forecasts;
    allowed_ = allowed;
    begun_ = off_ = 0;
    rests_ = works_ = false;
    made_ = left_out_ = 0;
    started_ns_ = monotonic_ns();
    worked_ns_ = 0;
    for (size_t i = 0; i < most; ++i) {
        place& one = places_[i];
        one.ask_above = INT64_MAX;
        one.in_phase = false;
        one.habit = {};
        one.late_ns = INT64_MAX;
        // Of the program before, if this process has become another one.
        phase_forecast{}.write_to(slot.at[i].forecast);
    }
}

void forecaster::phase_begins(size_t file_system, int64_t moved, const std::atomic<int64_t>& last_end, int64_t begun,
                              int64_t pause_ticks) {
    place& here = places_[file_system];
    here.ask_above.store(INT64_MAX, relaxed);
    here.moved_before.store(moved, relaxed);
    here.begun.store(begun, relaxed);
    here.pause_ticks.store(pause_ticks, relaxed);
    here.last_end.store(&last_end, relaxed);
    last_begun_.store(static_cast<uint32_t>(file_system), relaxed);
    rests_.store(false);
    begun_.fetch_or(1U << file_system);
    static_cast<void>(thread_.wake(work, this));
}

[[gnu::noinline]] void forecaster::ask_again(size_t file_system) {
    places_[file_system].ask_above.store(INT64_MAX, relaxed);
    off_.fetch_or(1U << file_system);
    static_cast<void>(thread_.wake(work, this));
}

void forecaster::rest() {
    constexpr int64_t patience_ns = 100'000'000;
    rests_.store(true);
    const int64_t since = monotonic_ns();
    while (works_.load() && monotonic_ns() - since < patience_ns) direct::yield();
}

int64_t forecaster::moved_at(size_t file_system) const {
    const process_part& part = slot_->at[file_system];
    return part.moved.load(relaxed) + part.unasked.load(relaxed);
}

int64_t forecaster::work(void* self) {
    auto& here = *static_cast<forecaster*>(self);
    here.works_.store(true);
    int64_t again_ns = calls::woken_thread::only_woken;
    if (!here.rests_.load()) again_ns = here.look(monotonic_ns());
    here.works_.store(false);
    return again_ns;
}

/// Returns when to look again.
int64_t forecaster::look(int64_t now_ns) {
    const uint32_t begun = begun_.exchange(0);
    bool asks = (begun | off_.exchange(0)) != 0;
    for (size_t i = 0; i < shared_->known_file_systems(); ++i) {
        place& here = places_[i];
        if ((begun >> i & 1U) != 0) {
            // A short pause between two looks.
            if (here.in_phase) here.habit.ends(here.moved_before.load(relaxed) - here.first_moved, -1);
            begin(i, now_ns);
        } else if (here.in_phase) {
            asks = follow(i, now_ns) || asks;
        }
    }
    if (asks) ask(begun, now_ns);
    int64_t again_ns = calls::woken_thread::only_woken;
    for (size_t i = 0; i < shared_->known_file_systems(); ++i) {
        const place& here = places_[i];
        if (!here.in_phase) continue;
        const int64_t until_ns = here.late_ns == INT64_MAX ? longest_sleep_ns : here.late_ns - now_ns;
        const int64_t next_ns = std::clamp(until_ns, std::min(shared_->pause_ns, longest_sleep_ns), longest_sleep_ns);
        again_ns = again_ns == calls::woken_thread::only_woken ? next_ns : std::min(again_ns, next_ns);
    }
    return again_ns;
}

void forecaster::begin(size_t file_system, int64_t now_ns) {
    place& here = places_[file_system];
    here.in_phase = true;
    here.first_moved = here.moved_before.load(relaxed);
    here.first_waited_ns = slot_->at[file_system].waited_ns.load(relaxed);
    here.first_begun = here.begun.load(relaxed);
    here.others_move_version = shared_->file_system[file_system].others_move_version.load(relaxed);
    here.patience_ns = shared_->pause_ns;
    here.beyond_bytes = least_beyond_bytes;
    here.looked_ns = now_ns;
    here.late_ns = INT64_MAX;
    here.habit.begins(now_ns);
}

void forecaster::end(size_t file_system, int64_t moved) {
    place& here = places_[file_system];
    here.in_phase = false;
    here.ask_above.store(INT64_MAX, relaxed);
    const uint32_t version = shared_->file_system[file_system].others_move_version.load(relaxed);
    const bool alone = version % 2 == 0 && version == here.others_move_version;
    const double ns_per_tick = static_cast<double>(shared_->pause_ns) /
                               static_cast<double>(std::max<int64_t>(here.pause_ticks.load(relaxed), 1));
    const auto took_ticks = static_cast<double>(here.last_end.load(relaxed)->load(relaxed) - here.first_begun);
    const int64_t waited_ns = slot_->at[file_system].waited_ns.load(relaxed) - here.first_waited_ns;
    const auto took_ns = static_cast<int64_t>(took_ticks * ns_per_tick) - waited_ns;
    here.habit.ends(moved - here.first_moved, alone ? std::max<int64_t>(took_ns, 0) : -1);
}

/// How the phase goes on. True: the forecast is off, or the phase is over.
bool forecaster::follow(size_t file_system, int64_t now_ns) {
    place& here = places_[file_system];
    const process_part& part = slot_->at[file_system];
    const bool waits = part.waiting.load(relaxed) != 0;
    const bool active = waits || part.under_way.load(relaxed) != 0;
    const int64_t moved = moved_at(file_system), since_ns = std::exchange(here.looked_ns, now_ns);
    // Of the time in which it was held back, nothing was forecast.
    if (waits && here.late_ns != INT64_MAX) here.late_ns += now_ns - since_ns;
    if (!active && calls::ticks() - here.last_end.load(relaxed)->load(relaxed) > here.pause_ticks.load(relaxed)) {
        end(file_system, moved);
        return true;
    }
    return now_ns >= here.late_ns;
}

bool forecaster::may_work(int64_t now_ns) const {
    const auto passed = static_cast<double>(now_ns - started_ns_);
    return static_cast<double>(worked_ns_) <= static_cast<double>(allowed_.credit_ns) + allowed_.share * passed;
}

/// `begun`: file systems where a phase has begun since this was asked last.
void forecaster::ask(uint32_t begun, int64_t now_ns) {
    if (coming_ == nullptr)
        coming_ = static_cast<coming_io::forecast*>(direct::map_memory(sizeof(coming_io::forecast)));
    if (coming_ == nullptr || !may_work(now_ns)) {
        left_out_.fetch_add(1, relaxed);
        return;
    }
    const int64_t worked_before = calls::processor_ns();
    std::array<int64_t, most> moved{};
    for (size_t i = 0; i < shared_->known_file_systems(); ++i) {
        place& here = places_[i];
        const auto* const last_end = here.last_end.load(relaxed);
        const bool none_ended = last_end != nullptr && last_end->load(relaxed) == here.begun.load(relaxed);
        if (!none_ended) begun &= ~(1U << i);
        // What is forecast has not moved yet, whatever is under way.
        moved[i] = none_ended && here.in_phase ? here.first_moved : moved_at(i);
    }
    if (forecasts_(*coming_)) {
        const coming_phases phases(*coming_, *files_, shared_->pause_ns);
        for (size_t i = 0; i < shared_->known_file_systems(); ++i) {
            const bool begins = (begun >> i & 1U) != 0;
            const coming_phases::said by_walk = phases.at(i, begins, i == last_begun_.load(relaxed));
            tell(i, judge(i, by_walk, begins, moved[i], now_ns));
        }
        shared_->bell.ring([](std::atomic<uint32_t>& word) {
            direct::call(SYS_futex, direct::address(&word), FUTEX_WAKE, INT32_MAX);
        });
    }
    made_.fetch_add(1, relaxed);
    worked_ns_ += calls::processor_ns() - worked_before;
}

/// By the walk, or as the phases before were. `begins`: no call of the phase was learnt yet.
phase_forecast forecaster::judge(size_t file_system, const coming_phases::said& by_walk, bool begins, int64_t moved,
                                 int64_t now_ns) {
    place& here = places_[file_system];
    const phase_habit& habit = here.habit;
    phase_forecast said = by_walk.what;
    said.told_ns = now_ns;
    said.told_bytes = moved;
    if (begins) here.habit.walk_says(said.bytes_left);
    here.habit.walk_says_of_next(said.next_bytes);
    // A loop that has never ended goes on for as long as one cares to look.
    if (by_walk.endless && !habit.is_known()) said.bytes_left = said.left_ns = 0;
    const auto alone_ns = [&](int64_t bytes) {
        const double pace = habit.ns_per_byte() > 0 ? habit.ns_per_byte() : by_walk.ns_per_byte;
        return static_cast<int64_t>(pace * static_cast<double>(bytes));
    };
    if (habit.is_nearer() || (habit.is_known() && !by_walk.complete)) {
        const int64_t left = here.in_phase ? habit.bytes() - (moved - here.first_moved) : 0;
        said.bytes_left = std::max<int64_t>(left, 0);
        said.left_ns = alone_ns(said.bytes_left);
    }
    const bool nearer = habit.is_nearer_of_next();
    if (habit.interval_ns() == 0 || (by_walk.next_complete && !nearer)) return said;
    if (nearer || said.next_probability <= 0)
        said.next_in_ns = std::max<int64_t>(habit.began_ns() + habit.interval_ns() - now_ns, 0);
    said.next_probability = by_walk.confidence;
    said.next_bytes = habit.bytes();
    said.next_alone_ns = alone_ns(said.next_bytes);
    return said;
}

void forecaster::tell(size_t file_system, const phase_forecast& said) {
    place& here = places_[file_system];
    // A program that tells by itself what is to come knows better, also when it does so at this moment.
    const auto is_layers = [&] { return slot_->by_itself.at[file_system].forecasts.load() == 0; };
    if (is_layers()) said.write_if(slot_->at[file_system].forecast, is_layers);
    if (!here.in_phase) return;
    if (said.bytes_left > 0) {
        const int64_t beyond = std::max(said.bytes_left / 4, std::exchange(here.beyond_bytes, 2 * here.beyond_bytes));
        here.ask_above.store(said.told_bytes + said.bytes_left + beyond, relaxed);
        here.late_ns = said.told_ns + std::max(a_quarter_more(said.left_ns), shared_->pause_ns);
    } else {
        here.late_ns = said.told_ns + here.patience_ns;
        here.patience_ns *= 2;
    }
}

}  // namespace halcyon::coordinate
