#include "logfs/container/reading/overlay.hpp"

#include <algorithm>

namespace halcyon::logfs {

bool append_segment(page_array<segment>& out, const segment& what) {
    if (what.length == 0) return true;
    if (!out.empty() && out.back().end() == what.start) {
        segment& before = out.back();
        const bool goes_on = what.is_hole() ? before.is_hole()
                                            : !before.is_hole() && before.dropping == what.dropping &&
                                                  before.physical + before.length == what.physical;
        if (goes_on) {
            before.length += what.length;
            return true;
        }
    }
    return out.push(what);
}

bool overlay::resolve(int64_t begin, int64_t end, page_array<segment>& out, page_array<conflict>* conflicts) {
    if (!sort()) return false;
    for (size_t i = 1; i < pieces_.size(); ++i) {
        if (pieces_[i - 1].end <= pieces_[i].start) continue;
        bool no_memory = false;
        const bool in_one_order = conflicts == nullptr && is_in_one_order(no_memory);
        if (no_memory) return false;
        return in_one_order ? put_over_each_other(begin, end, out) : compare_each(begin, end, out, conflicts);
    }
    // As in most files: nobody wrote what another did.
    int64_t at = begin;
    for (const piece& each : pieces_) {
        if (!append_segment(out, {at, each.start - at, segment::hole, 0})) return false;
        const int64_t physical = each.is_hole ? segment::hole : each.physical;
        if (!append_segment(out, {each.start, each.end - each.start, physical, each.dropping})) return false;
        at = each.end;
    }
    return append_segment(out, {at, end - at, segment::hole, 0});
}

/// Where sorted stretches begin: each run gives one.
bool overlay::find_sorted_stretches() {
    bounds_.clear();
    for (size_t i = 0; i < pieces_.size(); ++i) {
        if ((i == 0 || pieces_[i].start < pieces_[i - 1].start) && !bounds_.push(i)) return false;
    }
    return bounds_.push(pieces_.size());
}

/// Two sorted stretches are merged into one until there is one.
bool overlay::sort() {
    if (!find_sorted_stretches()) return false;
    if (bounds_.size() > 2 && !scratch_.resize(pieces_.size())) return false;
    const auto is_before = [](const piece& a, const piece& b) { return a.start < b.start; };
    while (bounds_.size() > 2) {
        next_bounds_.clear();
        for (size_t i = 0; i + 1 < bounds_.size(); i += 2) {
            const size_t first = bounds_[i];
            const size_t second = bounds_[i + 1];
            const size_t end = i + 2 < bounds_.size() ? bounds_[i + 2] : second;
            std::merge(pieces_.begin() + first, pieces_.begin() + second, pieces_.begin() + second,
                       pieces_.begin() + end, scratch_.begin() + first, is_before);
            if (!next_bounds_.push(first)) return false;
        }
        if (!next_bounds_.push(pieces_.size())) return false;
        pieces_.swap(scratch_);
        bounds_.swap(next_bounds_);
    }
    return true;
}

/// Whether each piece is older than another or later as a whole: nothing was written while a line of times goes on.
bool overlay::is_in_one_order(bool& no_memory) {
    const auto is_moment = [](const piece& each) { return each.first_ns == each.last_ns; };
    if (std::all_of(pieces_.begin(), pieces_.end(), is_moment)) return true;
    moments_.clear();
    for (const piece& each : pieces_) {
        if (!moments_.push(each.last_ns)) {
            no_memory = true;
            return false;
        }
    }
    std::sort(moments_.begin(), moments_.end());
    return std::all_of(pieces_.begin(), pieces_.end(), [&](const piece& each) {
        // Of a line, the first end that is not before it has to be its own.
        return is_moment(each) || *std::lower_bound(moments_.begin(), moments_.end(), each.first_ns) == each.last_ns;
    });
}

/// Of pieces in one order.
bool overlay::is_later(const piece& a, const piece& b) const {
    if (a.last_ns != b.last_ns) return a.last_ns > b.last_ns;
    if (a.dropping != b.dropping) return writers_.is_later_of_same_time(a.dropping, b.dropping);
    return a.physical > b.physical;
}

/// From left to right, with a heap of what was begun: its top is what counts, once it has not ended.
bool overlay::put_over_each_other(int64_t begin, int64_t end, page_array<segment>& out) {
    const auto is_below = [&](uint32_t a, uint32_t b) { return is_later(pieces_[b], pieces_[a]); };
    active_.clear();
    size_t next = 0;
    for (int64_t at = begin; at < end;) {
        for (; next < pieces_.size() && pieces_[next].start <= at; ++next) {
            if (!active_.push(static_cast<uint32_t>(next))) return false;
            std::push_heap(active_.begin(), active_.end(), is_below);
        }
        while (!active_.empty() && pieces_[active_[0]].end <= at) {
            std::pop_heap(active_.begin(), active_.end(), is_below);
            active_.pop();
        }
        const int64_t next_start = next < pieces_.size() ? std::min(end, pieces_[next].start) : end;
        if (active_.empty()) {
            if (!append_segment(out, {at, next_start - at, segment::hole, 0})) return false;
            at = next_start;
            continue;
        }
        const piece& top = pieces_[active_[0]];
        const int64_t until = std::min(next_start, top.end);
        const int64_t physical = top.is_hole ? segment::hole : top.physical + (at - top.start);
        if (!append_segment(out, {at, until - at, physical, top.dropping})) return false;
        at = until;
    }
    return true;
}

/// Where times cross, or doubts are to be found: each with each at every position.
bool overlay::compare_each(int64_t begin, int64_t end, page_array<segment>& out, page_array<conflict>* conflicts) {
    active_.clear();
    size_t next = 0;
    for (int64_t at = begin; at < end;) {
        size_t kept = 0;
        for (const uint32_t each : active_) {
            if (pieces_[each].end > at) active_[kept++] = each;
        }
        active_.cut(kept);
        for (; next < pieces_.size() && pieces_[next].start <= at; ++next) {
            if (pieces_[next].end > at && !active_.push(static_cast<uint32_t>(next))) return false;
        }
        int64_t until = next < pieces_.size() ? std::min(end, pieces_[next].start) : end;
        if (active_.empty()) {
            if (!append_segment(out, {at, until - at, segment::hole, 0})) return false;
            at = until;
            continue;
        }
        const piece* winner = &pieces_[active_[0]];
        for (const uint32_t each : active_) {
            if (is_over(pieces_[each], *winner, at)) winner = &pieces_[each];
        }
        until = std::min(until, winner->end);
        for (const uint32_t each : active_) {
            if (&pieces_[each] != winner) until = first_over(pieces_[each], *winner, at, until);
        }
        const int64_t physical = winner->is_hole ? segment::hole : winner->physical + (at - winner->start);
        if (!append_segment(out, {at, until - at, physical, winner->dropping})) return false;
        if (conflicts != nullptr && active_.size() > 1 && !note_conflicts(*winner, at, until, *conflicts)) return false;
        at = until;
    }
    return true;
}

/// Whether `a` counts rather than `b` at a position of both.
bool overlay::is_over(const piece& a, const piece& b, int64_t position) const {
    if (&a == &b) return false;
    const int64_t time_a = a.time_at(position);
    const int64_t time_b = b.time_at(position);
    if (time_a != time_b) return time_a > time_b;
    if (a.dropping != b.dropping) return writers_.is_later_of_same_time(a.dropping, b.dropping);
    // One writer gives each write a time of its own, but a line through times may meet another for a moment.
    return a.physical > b.physical;
}

/// The first position behind `begin` and not behind `end` where `other`, which may end before, counts rather than the
/// winner; `end`: nowhere. Times lie on lines, so that from there on it does.
int64_t overlay::first_over(const piece& other, const piece& winner, int64_t begin, int64_t end) const {
    const int64_t last = std::min(end, other.end) - 1;
    const bool are_moments = other.first_ns == other.last_ns && winner.first_ns == winner.last_ns;
    if (last <= begin || are_moments || !is_over(other, winner, last)) return end;
    int64_t not_over = begin;
    int64_t over = last;
    while (over - not_over > 1) {
        const int64_t middle = not_over + (over - not_over) / 2;
        (is_over(other, winner, middle) ? over : not_over) = middle;
    }
    return over;
}

bool overlay::is_in_doubt(const piece& a, const piece& b, int64_t position) const {
    if (a.dropping == b.dropping) return false;
    const int64_t time_a = a.time_at(position);
    const int64_t time_b = b.time_at(position);
    const int64_t apart = time_a > time_b ? time_a - time_b : time_b - time_a;
    const int64_t doubt = writers_.clock_doubt_ns(a.dropping, b.dropping) + a.error_ns() + b.error_ns();
    return apart <= doubt && !writers_.has_epoch_between(a.dropping, time_a, b.dropping, time_b);
}

bool overlay::note_conflicts(const piece& winner, int64_t begin, int64_t end, page_array<conflict>& out) const {
    for (const uint32_t each : active_) {
        const piece& other = pieces_[each];
        if (&other == &winner || !is_in_doubt(winner, other, begin)) continue;
        return out.push({begin, std::min(end, other.end) - begin, winner.dropping, other.dropping});
    }
    return true;
}

}  // namespace halcyon::logfs
