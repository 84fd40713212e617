#pragma once

#include "predict/grammar/grammar.hpp"

namespace halcyon::predict {

/// Makes a grammar of rules that are known, in this order: terminals, rules, their runs, the expansions from the
/// innermost rule outwards, the counts from S inwards, the digrams, finish(). What is added must be right: it is not
/// looked at again.
class grammar_builder {
  public:
    explicit grammar_builder(grammar& of) : g_(of) {}

    [[nodiscard]] bool is_new() const { return g_.usable() && !g_.full_ && g_.symbols_.end() == 1 && g_.length() == 0; }

    /// Symbols get the indices 1, 2, …; S has 0. False without room.
    [[nodiscard]] bool add_terminal(uint32_t value) { return g_.intern(value) != nothing; }
    [[nodiscard]] bool add_rule() { return g_.new_rule() != nothing; }
    [[nodiscard]] bool add_run(symbol_index rule, run what) {
        const node_index made = g_.new_node(what, rule);
        if (made == nothing) return false;
        g_.link(g_.last_of(rule), made);
        g_.link(made, g_.guard_of(rule));
        return true;
    }

    void set_expansion(symbol_index rule) {
        symbol_entry& entry = g_.symbols_[rule];
        for (node_index i = g_.first_of(rule); !g_.at(i).guard(); i = g_.at(i).next())
            entry.length += g_.at(i).exponent() * g_.symbol(g_.at(i).symbol()).length;
        if (rule == start_rule) return;
        entry.first = g_.symbol(g_.at(g_.first_of(rule)).symbol()).first;
        entry.last = g_.symbol(g_.at(g_.last_of(rule)).symbol()).last;
    }
    void count_body(symbol_index rule) {
        for (node_index i = g_.first_of(rule); !g_.at(i).guard(); i = g_.at(i).next())
            g_.symbols_[g_.at(i).symbol()].count += g_.symbol(rule).count * g_.at(i).exponent();
    }

    static constexpr uint64_t none_twice = UINT64_MAX;
    /// The place in the body of the first digram that was there before; those wait for finish() to unite them.
    [[nodiscard]] uint64_t index_body(symbol_index rule) {
        uint64_t twice = none_twice;
        uint64_t place = 0;
        for (node_index i = g_.first_of(rule); !g_.at(i).guard(); i = g_.at(i).next(), ++place) {
            const node_index next = g_.at(i).next();
            if (g_.at(next).guard() || next == g_.tail()) continue;
            if (g_.find_digram(g_.at(i).run(), g_.at(next).run()) == nothing) {
                g_.look_up(i);
            } else {
                g_.queue(i);
                if (twice == none_twice) twice = place;
            }
        }
        return twice;
    }

    /// Restores what had been left undone when the grammar was full. False without room.
    [[nodiscard]] bool finish(uint64_t unlearned) {
        for (symbol_index s = 1; s < g_.symbols_.end(); ++s) g_.queue_rule(s);
        g_.settle();
        g_.unlearned_ = unlearned;
        return !g_.full_;
    }

  private:
    grammar& g_;
};

}  // namespace halcyon::predict
