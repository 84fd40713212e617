#include "logfs/container/reading/overlay.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace halcyon::logfs {
namespace {

/// As a part of the one before where it goes on with that.
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

__extension__ typedef __int128 wide;

/// The time of a byte of a piece: first_ns + span_ns * into / length.
struct moment {
    int64_t first_ns;
    int64_t span_ns;
    int64_t into;
    int64_t length;

    moment(const piece& of, int64_t position) : first_ns(of.time_ns), span_ns(0), into(0), length(1) {
        if (of.line == nullptr) return;
        first_ns = of.line->first_ns;
        span_ns = of.line->span_ns();
        into = position - of.line->start;
        length = of.line->length;
    }
};

/// Whether a product of these, none of which is below 0, has so few bits that three of them can be added.
bool is_small(int64_t a, int64_t b, int64_t c) {
    const auto bits = [](int64_t number) { return std::bit_width(static_cast<uint64_t>(number)); };
    return bits(a) + bits(b) + bits(c) <= 125;
}

/// Above 0: at this position `a` is later. Nothing is rounded: so three that are close to each other are in one order.
int compare_times(const piece& a, const piece& b, int64_t position) {
    if (a.line == nullptr && b.line == nullptr) return (a.time_ns > b.time_ns) - (a.time_ns < b.time_ns);
    const moment one(a, position);
    const moment other(b, position);
    const int64_t apart_ns = one.first_ns - other.first_ns;
    if (is_small(std::abs(apart_ns), one.length, other.length) && is_small(one.span_ns, one.into, other.length) &&
        is_small(other.span_ns, other.into, one.length)) {
        const wide later = wide{apart_ns} * one.length * other.length + wide{one.span_ns} * one.into * other.length -
                           wide{other.span_ns} * other.into * one.length;
        return (later > 0) - (later < 0);
    }
    const int64_t time_a = a.time_at(position);
    const int64_t time_b = b.time_at(position);
    return (time_a > time_b) - (time_a < time_b);
}

}  // namespace

bool append_segments(std::span<const piece> layer, int64_t begin, int64_t end, page_array<segment>& out) {
    int64_t at = begin;
    for (const piece& each : layer) {
        if (!append_segment(out, {at, each.start - at, segment::hole, 0})) return false;
        const int64_t physical = each.is_hole ? segment::hole : each.physical;
        const uint32_t dropping = each.is_hole ? 0 : each.dropping;
        if (!append_segment(out, {each.start, each.end - each.start, physical, dropping})) return false;
        at = each.end;
    }
    return append_segment(out, {at, end - at, segment::hole, 0});
}

/// What is left of a layer while it is merged: `now`, and all behind it.
class overlay::layer {
  public:
    explicit layer(std::span<const piece> all) : behind_(all) { go_on(); }

    piece now;

    [[nodiscard]] bool is_done() const { return is_done_; }
    void go_on() {
        is_done_ = behind_.empty();
        if (is_done_) return;
        now = behind_.front();
        behind_ = behind_.subspan(1);
    }
    [[nodiscard]] bool append_to(page_array<piece>& out) const {
        return is_done_ || (out.push(now) && out.append(behind_));
    }

  private:
    std::span<const piece> behind_;
    bool is_done_ = false;
};

bool overlay::find_layers() {
    layers_.clear();
    for (size_t i = 0; i < pieces_.size(); ++i) {
        if ((i == 0 || pieces_[i].start < pieces_[i - 1].end) && !layers_.push(i)) return false;
    }
    return layers_.push(pieces_.size());
}

bool overlay::resolve() {
    if (!find_layers()) return false;
    while (layers_.size() > 2) {
        merged_.clear();
        next_layers_.clear();
        const std::span<const piece> all = pieces_.all();
        for (size_t i = 0; i + 1 < layers_.size(); i += 2) {
            if (!next_layers_.push(merged_.size())) return false;
            const auto one = all.subspan(layers_[i], layers_[i + 1] - layers_[i]);
            const bool is_alone = i + 2 == layers_.size();
            const bool done = is_alone ? merged_.append(one)
                                       : merge(one, all.subspan(layers_[i + 1], layers_[i + 2] - layers_[i + 1]));
            if (!done) return false;
        }
        if (!next_layers_.push(merged_.size())) return false;
        pieces_.swap(merged_);
        layers_.swap(next_layers_);
    }
    return true;
}

void overlay::release() {
    pieces_.release();
    merged_.release();
    layers_.release();
    next_layers_.release();
}

bool overlay::merge(std::span<const piece> one, std::span<const piece> other) {
    layer a(one);
    layer b(other);
    layer* first = &a;
    layer* second = &b;
    while (!a.is_done() && !b.is_done()) {
        if (second->now.start < first->now.start) std::swap(first, second);
        if (first->now.end <= second->now.start) {
            if (!merged_.push(first->now)) return false;
            first->go_on();
        } else if (!put_over(*first, *second)) {
            return false;
        }
    }
    return a.append_to(merged_) && b.append_to(merged_);
}

/// Both are where the second one begins. Which of them counts there keeps it, up to where one ends, or where the other
/// one counts.
bool overlay::put_over(layer& first, layer& second) {
    const int64_t begin = second.now.start;
    const order which = order_of(first.now, second.now);
    const bool is_changed = begin >= which.changes_at;
    const bool is_first = which.is_first != is_changed;
    if (!is_first && first.now.start < begin) {
        if (!merged_.push(first.now.until(begin))) return false;
        first.now.begin_at(begin);
    }
    layer& shown = is_first ? first : second;
    layer& hidden = is_first ? second : first;
    const int64_t both_end = std::min(first.now.end, second.now.end);
    if (!is_changed && which.changes_at < both_end) {
        if (!merged_.push(shown.now.until(which.changes_at))) return false;
        shown.now.begin_at(which.changes_at);
        hidden.now.begin_at(which.changes_at);
    } else if (hidden.now.end <= shown.now.end) {
        hidden.go_on();
    } else {
        hidden.now.begin_at(shown.now.end);
        if (!merged_.push(shown.now)) return false;
        shown.go_on();
    }
    return true;
}

/// Over all of their lines, not only what is looked at: so every reader sees the change in the same place.
overlay::order overlay::order_of(const piece& a, const piece& b) const {
    if (a.line == nullptr && b.line == nullptr) return {is_over(a, b, a.start), INT64_MAX};
    int64_t begin = INT64_MIN;
    int64_t end = INT64_MAX;
    for (const run* const line : {a.line, b.line}) {
        if (line == nullptr) continue;
        begin = std::max(begin, line->start);
        end = std::min(end, line->start + line->length);
    }
    const bool is_first = is_over(a, b, begin);
    if (is_over(a, b, end - 1) == is_first) return {is_first, INT64_MAX};
    int64_t before = begin;
    int64_t after = end - 1;
    while (after - before > 1) {
        const int64_t middle = before + (after - before) / 2;
        (is_over(a, b, middle) == is_first ? before : after) = middle;
    }
    return {is_first, after};
}

/// Whether `a` counts rather than `b` at a position.
bool overlay::is_over(const piece& a, const piece& b, int64_t position) const {
    const int later = compare_times(a, b, position);
    if (later != 0) return later > 0;
    if (a.dropping != b.dropping) return writers_.is_later_of_same_time(a.dropping, b.dropping);
    // A writer gives each write a time of its own, but other programs' containers have coarser ones.
    return a.physical - a.start > b.physical - b.start;
}

}  // namespace halcyon::logfs
