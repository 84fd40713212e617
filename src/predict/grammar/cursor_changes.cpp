// How cursors follow what is changed in the grammar under them: each place in the input keeps its place.
#include <algorithm>

#include "predict/grammar/cursors.hpp"

namespace halcyon::predict {

/// Puts two frames in the place of one.
void cursor_set::insert_frame(cursor& c, unsigned i, frame outer, frame inner) const {
    mark(outer.at());
    mark(inner.at());
    unmark(c.frames[i].at());
    if (c.depth == cursor::most_frames) {
        if (i == 0) {  // `outer` would be the outermost
            c.frames[0] = inner;
            c.before = nothing;
            return unmark(outer.at());
        }
        drop_outermost(c);
        --i;
    }
    std::copy_backward(c.frames.begin() + i + 1, c.frames.begin() + c.depth, c.frames.begin() + c.depth + 1);
    c.frames[i] = outer;
    c.frames[i + 1] = inner;
    ++c.depth;
}

/// `change(cursor, index of the frame)` for each cursor with a frame at this node; a path has a node once at most.
template <class Change>
void cursor_set::change_frames_at(node_index at, Change change) {
    for (unsigned i = 0; i < active_count_; ++i) {
        cursor& c = slots_[active_[i]];
        for (unsigned k = 0; k < c.depth; ++k) {
            if (c.frames[k].at() != at) continue;
            change(c, k);
            break;
        }
    }
}

/// What stands at `at` stands at `body` then, in a rule used at `use`.
void cursor_set::nest_frames_at(node_index at, node_index use, node_index body) {
    change_frames_at(at, [&](cursor& c, unsigned k) {
        const frame f = c.frames[k];
        insert_frame(c, k, frame(use, 0), frame(body, f.done(), f.loose()));
    });
}

void cursor_set::rule_used(node_index first, node_index second, node_index body_first, node_index body_second) {
    nest_frames_at(first, first, body_first);  // first: those of the second come to stand at it, too
    nest_frames_at(second, first, body_second);
}

void cursor_set::rule_lengthened(node_index use, node_index behind, node_index body_last) {
    nest_frames_at(behind, use, body_last);
}

void cursor_set::run_joined(node_index from, node_index into, uint64_t exponent) {
    change_frames_at(from, [&](cursor& c, unsigned k) {
        const frame f = c.frames[k];
        c.frames[k] = frame(into, f.loose() ? f.done() : f.done() + exponent, f.loose());
        mark(into);
        unmark(from);
    });
}

void cursor_set::rule_inlined(symbol_index rule, node_index use) {
    const bool begins = grammar_.at(grammar_.at(use).previous()).guard();
    for (unsigned i = 0; i < active_count_ && !begins; ++i) {
        cursor& c = slots_[active_[i]];
        // Its outermost rule will be another one, of which the beginning was not seen.
        if (c.before != nothing && grammar_.rule_of(c.frames[0].at()) == rule) c.before = nothing;
    }
    if (grammar_.at(use).marks() == 0) return;
    const node_index first = grammar_.first_of(rule);
    change_frames_at(use, [this, first](cursor& c, unsigned k) {
        if (k + 1 < c.depth) return erase_frame(c, k);
        mark(first);
        unmark(c.frames[k].at());
        c.frames[k] = frame(first, 0);
    });
}

}  // namespace halcyon::predict
