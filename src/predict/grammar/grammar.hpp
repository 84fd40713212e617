#pragma once

#include <cstddef>
#include <cstdint>

#include "predict/grammar/index_pool.hpp"
#include "predict/grammar/index_table.hpp"
#include "predict/grammar/node.hpp"
#include "predict/grammar/symbol_entry.hpp"

namespace halcyon::predict {

class cursor_set;

/// A context-free grammar of exactly one word, its input: Sequitur (Nevill-Manning and Witten 1997; Dorier 2014,
/// section 7.2.2) over runs. A rule's body is a sequence of runs, a^k being the symbol a repeated k times, so that a
/// loop of any length takes one node. Two neighbouring runs are a digram. After each append:
///
/// - *runs*: neighbours have different symbols; otherwise they would be one run.
/// - *digram uniqueness*: no two places have the same digram, exponents included: a^3 b and a^5 b differ. One digram is
///   exempt and not even in the table: that of the last run of S, which may still grow. It is looked up when the next
///   run begins. Therefore a growing run never has a stale digram, costs one addition for each symbol, and a loop is
///   not cut where an earlier one happened to end.
/// - *rule utility*: every rule but S is used at least twice, where R^k counts k times, and has at least two nodes. A
/// rule
///   that is used once gives way to its body; one that was reduced to a single run Q^e gives way to that.
///
/// Cost: amortised O(1) changes for each symbol, since every change either removes a node or makes a rule, and at most
/// half as many rules exist as nodes; O(log nodes) for the labels that tell a node's rule (symbol_entry.hpp).
///
/// Memory stays within the bound. Once something did not fit, the grammar is `full`: it learns nothing more, and
/// `unlearned` counts what came after. What was learnt until then stays right, may be walked and predicts on.
/// Forgetting the oldest instead would take apart the rules that recent input is made of, and unrepeated input is worth
/// no room.
class grammar {
  public:
    /// At least `least_bytes` are allowed in any case.
    explicit grammar(size_t bound_bytes);
    /// Its memory is a part of that of `within`.
    grammar(size_t bound_bytes, calls::memory_bound& within);
    static constexpr size_t least_bytes = 4096;

    grammar(const grammar&) = delete;
    grammar& operator=(const grammar&) = delete;

    /// The symbol of a terminal, made if there is none; `nothing` when there is no room for it.
    symbol_index intern(uint32_t terminal);
    [[nodiscard]] symbol_index find(uint32_t terminal) const;

    /// Appends what intern() returned. False, and counted, when the grammar is or becomes full before it is learnt.
    bool append(symbol_index terminal);

    [[nodiscard]] bool full() const { return full_; }
    /// False when the system had no memory even for S: then it is full, and nothing but full(), unlearned(), intern(),
    /// append() and the figures may be asked.
    [[nodiscard]] bool usable() const { return usable_; }
    /// Symbols that were appended to a full grammar.
    [[nodiscard]] uint64_t unlearned() const { return unlearned_; }
    /// Symbols of the input that it stands for.
    [[nodiscard]] uint64_t length() const { return usable_ ? symbols_[start_rule].length : 0; }
    /// Sum of the lengths of all bodies, in nodes: figure 7.3.
    [[nodiscard]] uint64_t size() const { return nodes_.used() - rules_; }
    /// S is one of them.
    [[nodiscard]] uint32_t rules() const { return rules_; }
    /// Allocated; and the most that ever was at once, tables being copied included.
    [[nodiscard]] size_t bytes_used() const { return bound_.used(); }
    [[nodiscard]] size_t bytes_peak() const { return bound_.peak(); }

    // The parts, for those who walk it.
    [[nodiscard]] const node& at(node_index i) const { return nodes_[i]; }
    [[nodiscard]] const symbol_entry& symbol(symbol_index i) const { return symbols_[i]; }
    void prefetch(node_index i) const { __builtin_prefetch(&nodes_[i]); }
    [[nodiscard]] uint32_t symbols_end() const { return symbols_.end(); }
    [[nodiscard]] uint32_t nodes_end() const { return nodes_.end(); }
    [[nodiscard]] node_index guard_of(symbol_index rule) const { return symbols_[rule].value; }
    [[nodiscard]] node_index first_of(symbol_index rule) const { return nodes_[guard_of(rule)].next(); }
    [[nodiscard]] node_index last_of(symbol_index rule) const { return nodes_[guard_of(rule)].previous(); }
    /// The last run of S, which grows; S's guard when the input is empty.
    [[nodiscard]] node_index tail() const { return last_of(start_rule); }
    /// The rule in whose body a node stands (not of guards).
    [[nodiscard]] symbol_index rule_of(node_index i) const { return symbols_[nodes_[i].label()].labelled; }
    /// Where these two runs stand side by side, the last run of S apart; `nothing` if nowhere.
    [[nodiscard]] node_index find_digram(run left, run right) const;
    [[nodiscard]] uint32_t indexed_digrams() const { return digrams_.size(); }

    /// Whose paths follow every change; at most one. It must outlive this or be taken away with nullptr.
    void watch(cursor_set* cursors) { cursors_ = cursors; }
    void mark(node_index i) { nodes_[i].mark(); }
    void unmark(node_index i) { nodes_[i].unmark(); }

    /// How often each kind of change was made: tests see that they reach all of them.
    struct changes {
        uint64_t rules_made = 0, rules_used = 0, rules_inlined = 0, rules_lengthened = 0, rules_collapsed = 0,
                 runs_joined = 0, relabelled = 0;
    };
    [[nodiscard]] const changes& made() const { return made_; }

    /// Longer inputs are not learnt: repetitions must fit into 39 bits.
    static constexpr uint64_t longest = uint64_t{1} << 39;

  private:
    friend class grammar_builder;

    static uint64_t hash_of(run left, run right) { return mixed(left * 0x9E3779B97F4A7C15u ^ mixed(right)); }
    static uint64_t terminal_hash(uint32_t terminal) { return mixed(terminal + 1ull); }
    [[nodiscard]] uint64_t digram_hash(node_index i) const {
        return hash_of(nodes_[i].run(), nodes_[nodes_[i].next()].run());
    }

    void begin();
    symbol_index new_rule();
    node_index new_node(run what, symbol_index rule);
    void link(node_index left, node_index right);
    void add_occurrence(node_index i);
    void remove_occurrence(node_index i);
    void bring_forward(node_index i);
    void take_out(node_index i);
    void remove(node_index i);
    void free_rule(symbol_index rule);

    void queue(node_index i);
    void queue_rule(symbol_index s);
    void unindex(node_index i);
    void settle();
    void look_up(node_index i);
    void look_at_rule(symbol_index rule);

    void unite(node_index again, node_index earlier);
    [[nodiscard]] symbol_index rule_that_is(node_index i) const;
    symbol_index make_rule(node_index i);
    void use_rule(node_index i, symbol_index rule);
    [[nodiscard]] bool are_all_uses(node_index one, node_index other) const;
    void lengthen_rule(node_index again, node_index earlier);
    void join(node_index i);
    void absorb_next(node_index i);
    void inline_rule(symbol_index rule);
    void relabel(symbol_index rule, symbol_index into);
    void collapse(symbol_index rule);
    void mark_full() { full_ = true; }

    calls::memory_bound bound_;
    index_pool<node> nodes_{bound_};
    index_pool<symbol_entry> symbols_{bound_};
    index_table digrams_{bound_};
    index_table terminals_{bound_};
    calls::growing_array<uint32_t> queue_{bound_};  // nodes, and rules with the bit rule_flag
    cursor_set* cursors_ = nullptr;
    uint64_t unlearned_ = 0;
    uint32_t rules_ = 0;
    bool full_ = false;
    bool usable_ = false;
    changes made_;

    static constexpr uint32_t rule_flag = 1u << index_bits;
};

}  // namespace halcyon::predict
