#include "predict/grammar/cursors.hpp"

#include <algorithm>
#include <bit>

namespace halcyon::predict {

namespace {

/// Rules nested deeper than this are not entered: the step would not be bounded.
constexpr unsigned deepest_descent = 64;
/// Nodes that are visited on the way behind what has come, before the rest is lost.
constexpr unsigned most_visits = 300;

/// Which uses of a rule that has ended this one may have been, given the terminal that came before it.
struct use_places {
    node_index at;
    double first;  ///< weight of being the first repetition
    double later;  ///< weight of being one of the later repetitions
};

}  // namespace

cursor_set::cursor_set(grammar& of, calls::memory_bound& memory, unsigned most, bool marking)
    : grammar_(of), memory_(memory), most_(std::clamp(most, 1u, most_cursors)), marking_(marking) {
    slots_ = static_cast<cursor*>(memory_.take(slots_bytes()));
    if (slots_ != nullptr) free_ = (1u << 2 * most_) - 1;
    if (marking_) grammar_.watch(this);
}

cursor_set::~cursor_set() {
    clear();
    if (marking_) grammar_.watch(nullptr);
    memory_.give_back(slots_, slots_bytes());
}

// --- slots, marks, frames ---

void cursor_set::mark(node_index i) const {
    if (marking_) grammar_.mark(i);
}
void cursor_set::unmark(node_index i) const {
    if (marking_) grammar_.unmark(i);
}

bool cursor_set::take_slot(slot& taken) {
    if (free_ == 0) return false;
    taken = static_cast<slot>(std::countr_zero(free_));
    free_ &= free_ - 1;
    slots_[taken].weight = 0;
    slots_[taken].before = nothing;
    slots_[taken].depth = 0;
    return true;
}

bool cursor_set::clone(slot from, slot& taken) {
    if (!take_slot(taken)) return false;
    const cursor& c = slots_[from];
    cursor& copy = slots_[taken];
    copy.weight = c.weight;
    copy.before = c.before;
    copy.depth = c.depth;
    std::copy_n(c.frames.begin(), c.depth, copy.frames.begin());
    for (unsigned i = 0; i < c.depth; ++i) mark(c.frames[i].at());
    return true;
}

void cursor_set::drop(slot s) {
    for (unsigned i = 0; i < slots_[s].depth; ++i) unmark(slots_[s].frames[i].at());
    free_ |= 1u << s;
}

void cursor_set::push(cursor& c, frame f) const {
    if (c.depth == cursor::most_frames) drop_outermost(c);
    mark(f.at());
    c.frames[c.depth++] = f;
}

void cursor_set::pop(cursor& c) const {
    unmark(c.last().at());
    --c.depth;
}

/// The cursor stands for more places then.
void cursor_set::drop_outermost(cursor& c) const {
    erase_frame(c, 0);
    c.before = nothing;
}

void cursor_set::erase_frame(cursor& c, unsigned i) const {
    unmark(c.frames[i].at());
    std::copy(c.frames.begin() + i + 1, c.frames.begin() + c.depth, c.frames.begin() + i);
    --c.depth;
}

// --- what is known ---

double cursor_set::weight() const {
    double sum = 0;
    for (unsigned i = 0; i < active_count_; ++i) sum += slots_[active_[i]].weight;
    return sum;
}

const cursor* cursor_set::heaviest() const {
    const cursor* best = nullptr;
    for (unsigned i = 0; i < active_count_; ++i) {
        if (best == nullptr || slots_[active_[i]].weight > best->weight) best = &slots_[active_[i]];
    }
    return best;
}

// --- steps ---

void cursor_set::clear() {
    while (active_count_ > 0) drop(active_[--active_count_]);
    lost_ = 0;
    at_end_ = 0;
    step_began_ = visited_;
}

void cursor_set::advance(symbol_index terminal) {
    step_began_ = visited_;
    double all = 0;
    double right = 0;
    const unsigned count = active_count_;
    active_count_ = 0;
    for (unsigned i = 0; i < count; ++i) {
        const slot s = active_[i];
        all += slots_[s].weight;
        if (expected(slots_[s]) != terminal) {
            drop(s);
            continue;
        }
        right += slots_[s].weight;
        if (descend(slots_[s])) pending_[pending_count_++] = s;
    }
    if (right < all) lost_ *= right / all;  // as many of those that were not followed were right
    settle();
}

void cursor_set::add_behind(node_index at, uint64_t done, double weight, symbol_index before) {
    slot s = 0;
    if (!take_slot(s)) {
        lost_ += weight;
        return;
    }
    slots_[s].weight = weight;
    slots_[s].before = before;
    push(slots_[s], frame(at, done - 1));
    pending_[pending_count_++] = s;
    settle();
}

void cursor_set::add_within(node_index at, uint64_t repetition, uint64_t done, double weight) {
    slot s = 0;
    if (!take_slot(s)) {
        lost_ += weight;
        return;
    }
    cursor& c = slots_[s];
    c.weight = weight;
    push(c, frame(at, repetition));
    if (!descend(c)) return;
    if (grammar_.at(c.last().at()).exponent() < done) return drop(s);
    c.last() = frame(c.last().at(), done - 1);
    pending_[pending_count_++] = s;
    settle();
}

void cursor_set::add_at_beginning() {
    const node_index first = grammar_.first_of(start_rule);
    slot s = 0;
    if (grammar_.at(first).guard() || !take_slot(s)) return;
    slots_[s].weight = 1;
    push(slots_[s], frame(first, 0));
    place(s);
}

void cursor_set::add_all(const cursor_set& other) {
    add(other, other.weight());
    lost_ += other.lost_;
}

void cursor_set::add(const cursor_set& other, double weight) {
    if (other.empty()) return;
    const double scale = weight / other.weight();
    for (unsigned i = 0; i < other.size(); ++i) {
        slot s = 0;
        if (!take_slot(s)) {
            lost_ += other[i].weight * scale;
            continue;
        }
        slots_[s].weight = other[i].weight * scale;
        slots_[s].before = other[i].before;
        for (unsigned k = 0; k < other[i].depth; ++k) push(slots_[s], other[i].frames[k]);
        place(s);
    }
}

void cursor_set::settle() {
    at_end_ = 0;
    while (pending_count_ > 0) {
        const slot s = pending_[--pending_count_];
        if (visited_ - step_began_ < most_visits) {
            go_on(s);
        } else {
            lost_ += slots_[s].weight;
            drop(s);
        }
    }
    if (at_end_ == 0) return;
    const double rest = weight() + lost_;
    if (rest == 0) return;
    const double scale = (rest + at_end_) / rest;
    for (unsigned i = 0; i < active_count_; ++i) slots_[active_[i]].weight *= scale;
    lost_ *= scale;
}

/// The repetition of the last frame's node under way has ended: goes on to what comes then.
void cursor_set::go_on(slot s) {
    cursor& c = slots_[s];
    for (;;) {
        ++visited_;
        const frame f = c.last();
        const node& n = grammar_.at(f.at());
        const uint64_t done = f.done() + 1;
        if (done < n.exponent()) {
            if (!f.loose()) {
                c.last() = frame(f.at(), done);
                return place(s);
            }
            split(s, done, n.exponent());
        }
        const node_index next = n.next();
        pop(c);
        if (!grammar_.at(next).guard()) {
            push(c, frame(next, 0));
            return place(s);
        }
        if (c.depth > 0) continue;
        const symbol_index ended = grammar_.at(next).symbol();
        if (ended == start_rule) {
            at_end_ += c.weight;
        } else {
            branch(c, ended);
        }
        return drop(s);
    }
}

/// Of a run of which only `done` repetitions were seen: another one may follow, for which a cursor of its own is made,
/// or not. All numbers of repetitions before are equally likely, so that one in `exponent - done + 1` is at the end.
void cursor_set::split(slot s, uint64_t done, uint64_t exponent) {
    cursor& ends = slots_[s];
    const double share = 1 / static_cast<double>(exponent - done + 1);
    const double stays = ends.weight * (1 - share);
    slot copy = 0;
    if (clone(s, copy)) {
        cursor& again = slots_[copy];
        again.weight = stays;
        again.last() = frame(again.last().at(), done, true);
        place(copy);
    } else {
        lost_ += stays;
    }
    ends.weight *= share;
}

/// Down to the first terminal of the last frame's symbol, which has just come. False when that is too deep: the cursor
/// is gone then.
bool cursor_set::descend(cursor& c) {
    for (unsigned i = 0; i < deepest_descent; ++i) {
        const symbol_entry& symbol = grammar_.symbol(grammar_.at(c.last().at()).symbol());
        if (!symbol.is_rule()) return true;
        ++visited_;
        push(c, frame(grammar_.at(symbol.value).next(), 0));
    }
    lost_ += c.weight;
    drop(static_cast<slot>(&c - slots_));
    return false;
}

double not_like_seen(double all, double seen, unsigned places) {
    return std::max(0.0, 1 - seen / all) / (places + 1);
}

/// The rule in which a cursor's outermost frame stood has ended: tells its uses apart, by how often each occurred.
void cursor_set::branch(const cursor& c, symbol_index rule) {
    const symbol_entry& ended = grammar_.symbol(rule);
    use_places places[most_uses];
    unsigned count = 0;
    double seen = 0;
    double possible = 0;
    node_index use = ended.newest;
    for (; use != nothing && count < uses_followed_; use = grammar_.at(use).older()) {
        ++visited_;
        const node& n = grammar_.at(use);
        grammar_.prefetch(n.next());
        const double occurred = static_cast<double>(grammar_.symbol(grammar_.rule_of(use)).count);
        const double repeated = static_cast<double>(n.exponent() - 1);
        seen += occurred * (1 + repeated);
        use_places place{use, occurred, occurred * repeated};
        if (c.before != nothing) {
            const node& previous = grammar_.at(n.previous());
            if (!previous.guard() && grammar_.symbol(previous.symbol()).last != c.before) place.first = 0;
            if (ended.last != c.before) place.later = 0;
        }
        possible += place.first + place.later;
        places[count++] = place;
    }
    if (possible == 0) {  // no use has this context: as good as not knowing it
        for (unsigned i = 0; i < count; ++i) {
            const node& n = grammar_.at(places[i].at);
            places[i].first = static_cast<double>(grammar_.symbol(grammar_.rule_of(places[i].at)).count);
            places[i].later = places[i].first * static_cast<double>(n.exponent() - 1);
        }
        possible = seen;
    }
    const double unseen = use == nothing ? 0 : not_like_seen(static_cast<double>(ended.count), seen, count);
    const double scale = c.weight * (1 - unseen) / possible;
    lost_ += c.weight * unseen;
    for (unsigned i = 0; i < count; ++i) {
        const use_places& place = places[i];
        const double weight = (place.first + place.later) * scale;
        slot s = 0;
        if (weight == 0) continue;
        if (!take_slot(s)) {
            lost_ += weight;
            continue;
        }
        cursor& follows = slots_[s];
        follows.weight = weight;
        // A later repetition alone: at least one was done before.
        const bool first_only = place.later == 0;
        push(follows, frame(place.at, place.first == 0 ? 1 : 0, !first_only));
        if (first_only && grammar_.at(grammar_.at(place.at).previous()).guard()) follows.before = c.before;
        pending_[pending_count_++] = s;
    }
}

/// Into the set, if it is new and heavy enough.
void cursor_set::place(slot s) {
    const cursor& c = slots_[s];
    unsigned lightest = 0;
    for (unsigned i = 0; i < active_count_; ++i) {
        cursor& other = slots_[active_[i]];
        if (other.depth == c.depth && other.before == c.before && other.last() == c.last() &&
            std::equal(c.frames.begin(), c.frames.begin() + c.depth, other.frames.begin())) {
            other.weight += c.weight;
            return drop(s);
        }
        if (other.weight < slots_[active_[lightest]].weight) lightest = i;
    }
    if (active_count_ < most_) {
        active_[active_count_++] = s;
        return;
    }
    slot gone = s;
    if (slots_[active_[lightest]].weight < c.weight) std::swap(gone, active_[lightest]);
    lost_ += slots_[gone].weight;
    drop(gone);
}

}  // namespace halcyon::predict
