#include "predict/grammar/grammar.hpp"

#include <algorithm>
#include <utility>

#include "predict/grammar/cursors.hpp"

namespace halcyon::predict {

grammar::grammar(size_t bound_bytes) : bound_(std::max(bound_bytes, least_bytes)) {
    begin();
}

grammar::grammar(size_t bound_bytes, calls::memory_bound& within) : bound_(std::max(bound_bytes, least_bytes), within) {
    begin();
}

void grammar::begin() {
    usable_ = new_rule() != nothing;
    if (usable_) symbols_[start_rule].count = 1;
}

symbol_index grammar::find(uint32_t terminal) const {
    return terminals_.find(terminal_hash(terminal), [&](uint32_t i) { return symbols_[i].value == terminal; });
}

symbol_index grammar::intern(uint32_t terminal) {
    const symbol_index known = find(terminal);
    if (known != nothing || full_) return known;
    const symbol_index made = symbols_.allocate();
    if (made == nothing) return mark_full(), nothing;
    symbol_entry& entry = symbols_[made];
    entry.kind = symbol_kind::terminal;
    entry.value = terminal;
    entry.first = entry.last = made;
    const auto hash = [&](uint32_t i) { return terminal_hash(symbols_[i].value); };
    if (terminals_.insert(terminal_hash(terminal), made, hash)) return made;
    symbols_.release(made);
    return mark_full(), nothing;
}

bool grammar::append(symbol_index terminal) {
    if (full_ || terminal == nothing || symbols_[start_rule].length >= longest) {
        mark_full();
        ++unlearned_;
        return false;
    }
    const node_index last = tail();
    if (nodes_[last].symbol() == terminal && !nodes_[last].guard()) {
        nodes_[last].set_run(make_run(terminal, nodes_[last].exponent() + 1));
    } else {
        const node_index added = new_node(make_run(terminal, 1), start_rule);
        if (added == nothing) {
            ++unlearned_;
            return false;
        }
        const node_index guard = guard_of(start_rule);
        link(last, added);
        link(added, guard);
        // The run before it has ended, and with it a digram has become final.
        if (last != guard && nodes_[last].previous() != guard) queue(nodes_[last].previous());
    }
    ++symbols_[terminal].count;
    ++symbols_[start_rule].length;
    settle();
    return true;
}

node_index grammar::find_digram(run left, run right) const {
    return digrams_.find(hash_of(left, right), [&](uint32_t i) {
        return nodes_[i].run() == left && nodes_[nodes_[i].next()].run() == right;
    });
}

// --- parts ---

/// `nothing`, and full, when there is no room.
symbol_index grammar::new_rule() {
    const symbol_index rule = symbols_.allocate();
    const node_index guard = rule == nothing ? nothing : nodes_.allocate();
    if (guard == nothing) {
        if (rule != nothing) symbols_.release(rule);
        mark_full();
        return nothing;
    }
    symbol_entry& entry = symbols_[rule];
    entry.kind = symbol_kind::rule;
    entry.value = guard;
    entry.length = 0;
    nodes_[guard] = node::fresh(guard);
    nodes_[guard].set_run(make_run(rule, 0));
    link(guard, guard);
    ++rules_;
    return rule;
}

/// A node of the body of `rule`, among the occurrences of its symbol, not linked yet. `nothing`, and full, without
/// room.
node_index grammar::new_node(run what, symbol_index rule) {
    const node_index made = nodes_.allocate();
    if (made == nothing) return mark_full(), nothing;
    nodes_[made] = node::fresh(made);
    nodes_[made].set_run(what);
    nodes_[made].set_label(symbols_[rule].label);
    ++symbols_[rule].body;
    add_occurrence(made);
    return made;
}

void grammar::link(node_index left, node_index right) {
    nodes_[left].set_next(right);
    nodes_[right].set_previous(left);
}

void grammar::add_occurrence(node_index i) {
    symbol_entry& entry = symbols_[nodes_[i].symbol()];
    nodes_[i].set_older(entry.newest);
    nodes_[i].set_newer(nothing);
    if (entry.newest != nothing) nodes_[entry.newest].set_newer(i);
    entry.newest = i;
}

void grammar::remove_occurrence(node_index i) {
    const node_index older = nodes_[i].older();
    const node_index newer = nodes_[i].newer();
    if (older != nothing) nodes_[older].set_newer(newer);
    if (newer != nothing) {
        nodes_[newer].set_older(older);
    } else {
        symbols_[nodes_[i].symbol()].newest = older;
    }
}

/// Makes it the newest occurrence: lists are looked at from there, and what is used again and again is to be found.
void grammar::bring_forward(node_index i) {
    if (nodes_[i].newer() == nothing) return;
    remove_occurrence(i);
    add_occurrence(i);
}

/// Takes a node out of its body; its digrams are out of the table already.
void grammar::take_out(node_index i) {
    const symbol_index rule = rule_of(i);
    --symbols_[rule].body;
    if (symbols_[rule].body == 1) queue_rule(rule);
    link(nodes_[i].previous(), nodes_[i].next());
}

/// The same, and frees it.
void grammar::remove(node_index i) {
    take_out(i);
    remove_occurrence(i);
    nodes_.release(i);
}

void grammar::free_rule(symbol_index rule) {
    nodes_.release(guard_of(rule));
    symbols_.release(rule);
    --rules_;
}

// --- what has to be looked at ---

void grammar::queue(node_index i) {
    if (nodes_[i].queued() || nodes_[i].guard()) return;
    if (!queue_.push(i)) return mark_full();
    nodes_[i].set_queued(true);
}

void grammar::queue_rule(symbol_index s) {
    if (!symbols_[s].is_rule() || s == start_rule || symbols_[s].queued) return;
    if (!queue_.push(s | rule_flag)) return mark_full();
    symbols_[s].queued = true;
}

void grammar::unindex(node_index i) {
    if (!nodes_[i].indexed()) return;
    digrams_.erase(digram_hash(i), i);
    nodes_[i].set_indexed(false);
}

/// Entries of nodes and rules that were freed meanwhile are passed over: freeing clears their `queued`.
void grammar::settle() {
    while (!queue_.empty()) {
        const uint32_t entry = queue_.pop();
        const uint32_t i = entry & index_mask;
        if ((entry & rule_flag) != 0) {
            if (!symbols_[i].queued) continue;
            symbols_[i].queued = false;
            look_at_rule(i);
        } else if (nodes_[i].queued()) {
            nodes_[i].set_queued(false);
            look_up(i);
        }
    }
}

void grammar::look_at_rule(symbol_index rule) {
    if (symbols_[rule].body == 1) return collapse(rule);
    const node& use = nodes_[symbols_[rule].newest];
    if (use.older() == nothing && use.exponent() == 1) inline_rule(rule);
}

void grammar::look_up(node_index i) {
    const node_index next = nodes_[i].next();
    if (nodes_[i].indexed() || nodes_[next].guard() || next == tail()) return;
    const uint64_t hash = digram_hash(i);
    const run left = nodes_[i].run();
    const run right = nodes_[next].run();
    const node_index earlier = digrams_.find(hash, [&](uint32_t other) {
        return nodes_[other].run() == left && nodes_[nodes_[other].next()].run() == right;
    });
    if (earlier != nothing) return unite(i, earlier);
    if (!digrams_.insert(hash, i, [this](uint32_t other) { return digram_hash(other); })) return mark_full();
    nodes_[i].set_indexed(true);
}

// --- changes ---

/// The same digram stands in two places, which cannot overlap: neighbours differ in their symbols.
void grammar::unite(node_index again, node_index earlier) {
    symbol_index rule = rule_that_is(earlier);
    if (rule != nothing) return use_rule(again, rule);
    rule = rule_that_is(again);
    if (rule != nothing) {
        digrams_.replace(digram_hash(again), earlier, again);
        nodes_[earlier].set_indexed(false);
        nodes_[again].set_indexed(true);
        return use_rule(earlier, rule);
    }
    if (are_all_uses(again, earlier)) return lengthen_rule(again, earlier);
    rule = make_rule(earlier);
    if (rule == nothing) return;
    use_rule(earlier, rule);
    use_rule(again, rule);
}

/// The rule whose whole body is this digram, if there is one and it is not S.
symbol_index grammar::rule_that_is(node_index i) const {
    const node& before = nodes_[nodes_[i].previous()];
    const node& after = nodes_[nodes_[nodes_[i].next()].next()];
    return before.guard() && after.guard() && before.symbol() != start_rule ? before.symbol() : nothing;
}

/// A rule of this digram, which is not used yet and takes the digram's place in the table.
symbol_index grammar::make_rule(node_index i) {
    const symbol_index rule = new_rule();
    if (rule == nothing) return nothing;
    const run left = nodes_[i].run();
    const run right = nodes_[nodes_[i].next()].run();
    const node_index first = new_node(left, rule);
    const node_index second = first == nothing ? nothing : new_node(right, rule);
    if (second == nothing) {
        if (first != nothing) {
            remove_occurrence(first);
            nodes_.release(first);
        }
        free_rule(rule);
        return nothing;
    }
    link(guard_of(rule), first);
    link(first, second);
    link(second, guard_of(rule));
    digrams_.replace(digram_hash(i), i, first);
    nodes_[i].set_indexed(false);
    nodes_[first].set_indexed(true);
    const symbol_entry& a = symbols_[symbol_of(left)];
    const symbol_entry& b = symbols_[symbol_of(right)];
    symbol_entry& entry = symbols_[rule];
    entry.length = a.length * exponent_of(left) + b.length * exponent_of(right);
    entry.first = a.first;
    entry.last = b.last;
    ++made_.rules_made;
    return rule;
}

/// Puts `rule` in the place of the digram at `i`, which it consists of.
void grammar::use_rule(node_index i, symbol_index rule) {
    const node_index second = nodes_[i].next();
    if (cursors_ != nullptr && (nodes_[i].marks() | nodes_[second].marks()) != 0)
        cursors_->rule_used(i, second, first_of(rule), last_of(rule));
    unindex(nodes_[i].previous());
    unindex(i);
    unindex(second);
    queue_rule(nodes_[i].symbol());
    queue_rule(nodes_[second].symbol());
    symbols_[rule].count += symbols_[rule_of(i)].count;
    bring_forward(first_of(rule));
    bring_forward(last_of(rule));
    remove_occurrence(i);
    nodes_[i].set_run(make_run(rule, 1));
    add_occurrence(i);
    remove(second);
    ++made_.rules_used;
    join(i);
}

/// Whether both are the single uses of one rule.
bool grammar::are_all_uses(node_index one, node_index other) const {
    const symbol_entry& rule = symbols_[nodes_[one].symbol()];
    if (!rule.is_rule() || nodes_[one].exponent() != 1) return false;
    const node_index newest = rule.newest;
    const node_index older = nodes_[newest].older();
    return ((newest == one && older == other) || (newest == other && older == one)) && nodes_[older].older() == nothing;
}

/// Behind both uses of a rule comes the same run: it moves into the rule. What make_rule() would make, and
/// inline_rule() of the old rule then, in much less; it is what happens at nearly every step through a longer rule that
/// comes again, since the part of it that has come by now is a rule of its own.
void grammar::lengthen_rule(node_index again, node_index earlier) {
    const symbol_index rule = nodes_[again].symbol();
    const node_index moved = nodes_[again].next();
    const node_index gone = nodes_[earlier].next();
    if (cursors_ != nullptr && (nodes_[moved].marks() | nodes_[gone].marks()) != 0) {
        cursors_->rule_lengthened(again, moved, moved);  // first: the others come to stand at it, too
        cursors_->rule_lengthened(earlier, gone, moved);
    }
    unindex(again);
    unindex(moved);
    unindex(earlier);
    unindex(gone);
    queue_rule(nodes_[moved].symbol());
    take_out(moved);
    remove(gone);
    symbol_entry& entry = symbols_[rule];
    const symbol_entry& added = symbols_[nodes_[moved].symbol()];
    ++entry.body;
    entry.length += added.length * nodes_[moved].exponent();
    entry.last = added.last;
    nodes_[moved].set_label(entry.label);
    link(last_of(rule), moved);
    link(moved, guard_of(rule));
    bring_forward(first_of(rule));
    bring_forward(moved);
    ++made_.rules_lengthened;
    join(moved);
    const bool adjacent = nodes_[earlier].next() == again || nodes_[again].next() == earlier;
    join(earlier);
    if (!adjacent) join(again);  // else it is gone
}

/// Makes one run of this and neighbours of the same symbol, and has its digrams looked up.
void grammar::join(node_index i) {
    const node_index previous = nodes_[i].previous();
    if (!nodes_[previous].guard() && nodes_[previous].symbol() == nodes_[i].symbol()) {
        absorb_next(previous);
        i = previous;
    }
    const node_index next = nodes_[i].next();
    if (!nodes_[next].guard() && nodes_[next].symbol() == nodes_[i].symbol()) absorb_next(i);
    queue(nodes_[i].previous());
    queue(i);
}

void grammar::absorb_next(node_index i) {
    const node_index next = nodes_[i].next();
    unindex(nodes_[i].previous());
    unindex(i);
    unindex(next);
    if (cursors_ != nullptr && nodes_[next].marks() != 0) cursors_->run_joined(next, i, nodes_[i].exponent());
    nodes_[i].set_run(make_run(nodes_[i].symbol(), nodes_[i].exponent() + nodes_[next].exponent()));
    remove(next);
    ++made_.runs_joined;
}

/// The only use of `rule`, which has the exponent 1, gives way to its body.
void grammar::inline_rule(symbol_index rule) {
    const node_index use = symbols_[rule].newest;
    const symbol_index into = rule_of(use);
    const node_index before = nodes_[use].previous();
    const node_index after = nodes_[use].next();
    const node_index first = first_of(rule);
    const node_index last = last_of(rule);
    if (cursors_ != nullptr) cursors_->rule_inlined(rule, use);
    unindex(before);
    unindex(use);
    relabel(rule, into);
    symbols_[into].body += symbols_[rule].body - 1;
    nodes_.release(use);
    link(before, first);
    link(last, after);
    free_rule(rule);
    ++made_.rules_inlined;
    queue(last);
    join(first);
    if (!nodes_[after].guard()) join(after);
}

/// Of the two bodies that become one, the nodes of the smaller get the label of the larger.
void grammar::relabel(symbol_index rule, symbol_index into) {
    symbol_entry& from = symbols_[rule];
    symbol_entry& to = symbols_[into];
    const symbol_index smaller = from.body <= to.body ? rule : into;
    const uint32_t label = smaller == rule ? to.label : from.label;
    for (node_index i = first_of(smaller); !nodes_[i].guard(); i = nodes_[i].next()) nodes_[i].set_label(label);
    made_.relabelled += symbols_[smaller].body;
    if (smaller == rule) return;
    std::swap(from.label, to.label);
    symbols_[from.label].labelled = rule;
    symbols_[to.label].labelled = into;
}

/// `rule` consists of a single run Q^e: each use of it becomes a run of Q. Seen only when a model is loaded that had
/// been full: cursors are not led through it, but found anew.
void grammar::collapse(symbol_index rule) {
    const node_index body = first_of(rule);
    const symbol_index inner = nodes_[body].symbol();
    const uint64_t times = nodes_[body].exponent();
    if (cursors_ != nullptr) cursors_->clear();
    while (symbols_[rule].newest != nothing) {
        const node_index use = symbols_[rule].newest;
        unindex(nodes_[use].previous());
        unindex(use);
        remove_occurrence(use);
        nodes_[use].set_run(make_run(inner, nodes_[use].exponent() * times));
        add_occurrence(use);
        join(use);
    }
    remove(body);
    free_rule(rule);
    queue_rule(inner);
    ++made_.rules_collapsed;
}

}  // namespace halcyon::predict
