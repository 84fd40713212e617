#include "coordinate/page/observed_targets.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

int64_t bounded(int64_t bytes) {
    return std::clamp<int64_t>(bytes, 0, phase_forecast::farthest);
}

}  // namespace

void observed_targets::begin() {
    found_ = {};
    last_count_ = 0;
    tries_since_ns_.reset();
}

/// For all processes together: one that was killed, or stopped, in the middle of a change holds up no other one.
bool observed_targets::may_try_again() {
    constexpr int64_t patience_ns = 200'000;
    const int64_t now_ns = monotonic_ns();
    if (!tries_since_ns_) tries_since_ns_ = now_ns;
    if (now_ns - *tries_since_ns_ > patience_ns) return false;
    calls::direct::yield();
    return true;
}

/// False: it changes all the time.
bool observed_targets::read(const process_slot& slot, size_t file_system) {
    const shared_targets& from = slot.targets[file_system];
    const process_part& part = slot.at[file_system];
    do {
        const uint32_t version = from.version.load(std::memory_order_acquire);
        now_.version = version;
        now_.turns = from.turns.load(relaxed);
        now_.count = from.count.load(relaxed);
        now_.told = from.told_version.load(relaxed) == version;
        // As everywhere: a count may be below 0 for a moment.
        now_.active = static_cast<int32_t>(part.under_way.load(relaxed)) > 0 ||
                      static_cast<int32_t>(part.waiting.load(relaxed)) > 0;
        const int64_t moved = bounded(part.moved.load(relaxed)) + bounded(part.unasked.load(relaxed));
        const int64_t until = now_.turns > 0 ? bounded(from.moved_before.load(relaxed)) : moved;
        now_.moved_else = until - bounded(from.moved_within.load(relaxed));
        const uint32_t listed = now_.turns > 0 && now_.count <= shared_targets::most ? now_.count : 0;
        for (uint32_t i = 0; i < listed; ++i) now_.at[i] = from.at[i].load(relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (version % 2 == 0 && from.version.load(relaxed) == version) return true;
    } while (may_try_again());
    return false;
}

void observed_targets::look(uint32_t number, const process_slot& slot, size_t file_system) {
    if (seen_.size() <= number) seen_.resize(number + 1);
    seen& last = seen_[number];
    const uint64_t owner = slot.owner.load(relaxed);
    if (last.owner != owner) last = {.owner = owner};
    last.version = 0;
    if (!read(slot, file_system)) {
        found_.all = true;
        return;
    }
    const bool moved_by_itself = now_.moved_else > last.moved_else;
    last.moved_else = std::max(last.moved_else, now_.moved_else);
    if (moved_by_itself || (now_.turns == 0 && now_.active)) found_.all = true;
    if (now_.turns == 0) return;
    last.version = now_.version;
    found_.told = found_.told || now_.told;
    if (now_.count == 0 || now_.count > shared_targets::most)
        found_.all = true;
    else
        add_list();
}

/// Processes that write one file list the same targets.
void observed_targets::add_list() {
    const auto begin = now_.at.begin(), end = begin + now_.count;
    if (found_.all || std::equal(begin, end, last_.begin(), last_.begin() + last_count_)) return;
    std::copy(begin, end, last_.begin());
    last_count_ = now_.count;
    found_.some.insert(found_.some.end(), begin, end);
    if (found_.some.size() > 4 * most_targets) sort_list();
}

void observed_targets::sort_list() {
    std::ranges::sort(found_.some);
    const auto again = std::ranges::unique(found_.some);
    found_.some.erase(again.begin(), again.end());
    found_.all = found_.all || found_.some.size() > most_targets;
}

node_targets observed_targets::end() {
    sort_list();
    if (found_.all) found_.some.clear();
    return std::exchange(found_, {});
}

bool observed_targets::tell(page& shared, size_t file_system) {
    bool is_news = false;
    for (size_t i = 0; i < seen_.size(); ++i) {
        process_slot& slot = shared.slots[i];
        if (seen_[i].version == 0 || slot.owner.load(relaxed) != seen_[i].owner) continue;
        std::atomic<uint32_t>& told = slot.targets[file_system].told_version;
        if (told.load(relaxed) == seen_[i].version) continue;
        told.store(seen_[i].version, std::memory_order_release);
        is_news = true;
    }
    return is_news;
}

}  // namespace halcyon::coordinate
