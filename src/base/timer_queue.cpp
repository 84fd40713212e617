#include "base/timer_queue.hpp"

#include <algorithm>
#include <utility>

namespace halcyon {

timer_queue::timer timer_queue::add(std::function<void()> action) {
    if (free_.empty()) {
        free_.push_back(slots_.size());
        slots_.emplace_back();
        heap_.reserve(slots_.capacity());
    }
    const size_t index = free_.back();
    free_.pop_back();
    slot& s = slots_[index];
    s.action = std::move(action);
    s.is_used = true;
    return static_cast<timer>(uint64_t{s.generation} << 32 | index);
}

std::optional<size_t> timer_queue::slot_of(timer t) const {
    const auto number = static_cast<uint64_t>(t);
    const size_t index = number & UINT32_MAX;
    const bool is_known = index < slots_.size() && slots_[index].is_used && slots_[index].generation == number >> 32;
    return is_known ? std::optional(index) : std::nullopt;
}

void timer_queue::set(timer t, int64_t when_ns) {
    const auto index = slot_of(t);
    if (!index) return;
    const entry e{std::max(when_ns, not_before_ns_), ++order_, *index};
    if (slots_[*index].place == unset_place) {
        heap_.push_back(e);
        slots_[*index].place = heap_.size() - 1;
    }
    put(slots_[*index].place, e);
    settle(slots_[*index].place);
}

void timer_queue::unset(timer t) {
    if (const auto index = slot_of(t); index && slots_[*index].place != unset_place) take_out(slots_[*index].place);
}

void timer_queue::remove(timer t) {
    const auto index = slot_of(t);
    if (!index) return;
    unset(t);
    slot& s = slots_[*index];
    s.action = nullptr;
    s.is_used = false;
    ++s.generation;
    free_.push_back(*index);
}

bool timer_queue::is_set(timer t) const {
    const auto index = slot_of(t);
    return index && slots_[*index].place != unset_place;
}

std::optional<int64_t> timer_queue::next_ns() const {
    return heap_.empty() ? std::nullopt : std::optional(heap_.front().when_ns);
}

void timer_queue::run_due(int64_t now_ns) {
    const uint64_t set_before = order_;
    // So that no action that always sets its timer for long ago goes before those that are due as well.
    not_before_ns_ = now_ns;
    while (!heap_.empty() && heap_.front().when_ns <= now_ns && heap_.front().order <= set_before) {
        const size_t index = heap_.front().slot;
        const uint32_t generation = slots_[index].generation;
        take_out(0);
        // Out of its slot while it runs: it may remove its timer, or add others.
        std::function<void()> action = std::move(slots_[index].action);
        action();
        slot& s = slots_[index];
        if (s.is_used && s.generation == generation) s.action = std::move(action);
    }
    not_before_ns_ = INT64_MIN;
}

void timer_queue::put(size_t place, const entry& e) {
    heap_[place] = e;
    slots_[e.slot].place = place;
}

/// Moves the entry of this place up or down to where it belongs.
void timer_queue::settle(size_t place) {
    const entry e = heap_[place];
    while (place > 0 && is_before(e, heap_[(place - 1) / 2])) {
        put(place, heap_[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    while (2 * place + 1 < heap_.size()) {
        size_t child = 2 * place + 1;
        if (child + 1 < heap_.size() && is_before(heap_[child + 1], heap_[child])) ++child;
        if (!is_before(heap_[child], e)) break;
        put(place, heap_[child]);
        place = child;
    }
    put(place, e);
}

void timer_queue::take_out(size_t place) {
    slots_[heap_[place].slot].place = unset_place;
    const entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    put(place, last);
    settle(place);
}

}  // namespace halcyon
