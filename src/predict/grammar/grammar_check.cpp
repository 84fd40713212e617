#include "predict/grammar/grammar_check.hpp"

#include <vector>

namespace halcyon::predict {

namespace {

std::string text(const grammar& g, run r) {
    const symbol_entry& s = g.symbol(symbol_of(r));
    std::string name = s.is_rule() ? "R" + std::to_string(symbol_of(r)) : std::to_string(s.value);
    if (exponent_of(r) != 1) name += "^" + std::to_string(exponent_of(r));
    return name;
}

/// Looks at one grammar; the first thing that is wrong ends it.
class examination {
  public:
    explicit examination(const grammar& g) : g_(g), places_(g.symbols_end()) {}

    std::string result() {
        for (symbol_index s = 0; s < g_.symbols_end() && wrong_.empty(); ++s) labels(s);
        for (symbol_index s = 0; s < g_.symbols_end() && wrong_.empty(); ++s) {
            if (g_.symbol(s).is_rule()) body(s);
        }
        for (symbol_index s = 0; s < g_.symbols_end() && wrong_.empty(); ++s) symbol(s);
        if (wrong_.empty()) totals();
        if (wrong_.empty()) expansions();
        return wrong_;
    }

  private:
    /// `otherwise()` says what is wrong: words are made only when they are needed.
    template <class Otherwise>
    bool holds(bool condition, Otherwise otherwise) {
        if (!condition && wrong_.empty()) wrong_ = otherwise();
        return condition;
    }

    void labels(symbol_index s) {
        const symbol_entry& entry = g_.symbol(s);
        holds(entry.label < g_.symbols_end() && g_.symbol(entry.label).labelled == s,
              [&] { return std::string("the label of symbol ") + std::to_string(s) + " is another one's"; });
        holds(!entry.queued, [&] { return std::string("rule ") + std::to_string(s) + " still waits to be looked at"; });
    }

    void body(symbol_index rule) {
        const std::string name = "rule " + std::to_string(rule);
        const node_index guard = g_.guard_of(rule);
        if (!holds(g_.at(guard).guard() && g_.at(guard).symbol() == rule, [&] { return name + " has no guard"; }))
            return;
        uint32_t nodes = 0;
        for (node_index i = g_.first_of(rule); i != guard && wrong_.empty(); i = g_.at(i).next()) {
            const node& n = g_.at(i);
            if (!holds(++nodes <= g_.symbol(rule).body, [&] { return name + " has more nodes than it counts"; }))
                return;
            if (!holds(!n.guard() && !n.freed(), [&] { return name + " has a node that is free or a guard"; })) return;
            holds(g_.at(n.next()).previous() == i,
                  [&] { return name + ": a node's next one has another previous one"; });
            holds(g_.rule_of(i) == rule,
                  [&] { return name + ": " + text(g_, n.run()) + " is taken for one of another rule"; });
            holds(!n.queued() || g_.full(), [&] { return name + ": a digram still waits to be looked up"; });
            ++places_[n.symbol()];
            digram(name, i);
        }
        holds(nodes == g_.symbol(rule).body, [&] { return name + " has fewer nodes than it counts"; });
        holds(rule == start_rule || nodes >= 2 || g_.full(), [&] { return name + " is a single run"; });
        nodes_ += nodes + 1;
        ++rules_;
    }

    void digram(const std::string& name, node_index i) {
        const node& n = g_.at(i);
        const node& next = g_.at(n.next());
        if (next.guard())
            return void(holds(!n.indexed(), [&] { return name + ": its last node begins an indexed digram"; }));
        const auto words = [&] { return text(g_, n.run()) + " " + text(g_, next.run()); };
        holds(n.symbol() != next.symbol(), [&] { return name + ": two runs of one symbol side by side: " + words(); });
        if (n.next() == g_.tail())
            return void(holds(!n.indexed(),
                              [&] { return std::string("the digram of the growing run is indexed: ") + words(); }));
        if (n.indexed()) ++indexed_;
        if (g_.full() && !n.indexed()) return;
        holds(g_.find_digram(n.run(), next.run()) == i,
              [&] { return name + ": the digram stands elsewhere, too, or is not indexed: " + words(); });
    }

    void symbol(symbol_index s) {
        const symbol_entry& entry = g_.symbol(s);
        if (entry.kind == symbol_kind::unused) return;
        const std::string name = text(g_, make_run(s, 1));
        uint64_t uses = 0;
        uint32_t listed = 0;
        node_index newer = nothing;
        for (node_index i = entry.newest; i != nothing && wrong_.empty(); i = g_.at(i).older()) {
            if (!holds(++listed <= places_[s], [&] { return name + " has more occurrences listed than there are"; }))
                return;
            holds(g_.at(i).run() != nothing && g_.at(i).symbol() == s,
                  [&] { return name + ": an occurrence of another symbol is listed"; });
            holds(g_.at(i).newer() == newer, [&] { return name + ": an occurrence does not know the newer one"; });
            uses += g_.at(i).exponent();
            newer = i;
        }
        holds(listed == places_[s], [&] { return name + " has fewer occurrences listed than there are"; });
        if (entry.kind == symbol_kind::terminal) {
            ++terminals_;
            holds(g_.find(entry.value) == s, [&] { return name + " is not found"; });
            holds(entry.length == 1 && entry.first == s && entry.last == s,
                  [&] { return name + " is not a terminal of itself"; });
        } else if (s == start_rule) {
            holds(uses == 0, [&] { return std::string("S is used"); });
        } else {
            holds(uses >= 2 || (g_.full() && uses == 1),
                  [&] { return name + " is used " + std::to_string(uses) + " times"; });
        }
    }

    void totals() {
        holds(rules_ == g_.rules(), [&] { return std::string("rules are miscounted"); });
        holds(nodes_ == g_.size() + g_.rules(), [&] { return std::string("nodes are miscounted"); });
        holds(indexed_ == g_.indexed_digrams(),
              [&] { return std::string("the table of digrams has entries of no node"); });
    }

    /// Rules in an order in which each comes after all that use it; lengths and counts follow.
    void expansions() {
        std::vector<uint32_t> open(places_);
        std::vector<uint64_t> counts(g_.symbols_end(), 0);
        std::vector<symbol_index> order{start_rule};
        counts[start_rule] = 1;
        for (size_t k = 0; k < order.size(); ++k) {
            for (node_index i = g_.first_of(order[k]); !g_.at(i).guard(); i = g_.at(i).next()) {
                const symbol_index s = g_.at(i).symbol();
                counts[s] += counts[order[k]] * g_.at(i).exponent();
                if (--open[s] == 0 && g_.symbol(s).is_rule()) order.push_back(s);
            }
        }
        if (!holds(order.size() == g_.rules(),
                   [&] { return std::string("rules use each other in a circle, or are not used"); }))
            return;
        for (size_t k = order.size(); k-- > 0 && wrong_.empty();) expansion(order[k]);
        for (symbol_index s = 0; s < g_.symbols_end(); ++s) {
            holds(g_.symbol(s).kind == symbol_kind::unused || counts[s] == g_.symbol(s).count, [&] {
                return text(g_, make_run(s, 1)) + " occurs " + std::to_string(counts[s]) + " times and counts " +
                       std::to_string(g_.symbol(s).count);
            });
        }
    }

    void expansion(symbol_index rule) {
        const std::string name = "rule " + std::to_string(rule);
        uint64_t length = 0;
        for (node_index i = g_.first_of(rule); !g_.at(i).guard(); i = g_.at(i).next())
            length += g_.at(i).exponent() * g_.symbol(g_.at(i).symbol()).length;
        const symbol_entry& entry = g_.symbol(rule);
        holds(length == entry.length, [&] { return name + " expands to another length than it says"; });
        if (rule == start_rule) return;
        holds(entry.first == g_.symbol(g_.at(g_.first_of(rule)).symbol()).first,
              [&] { return name + " begins with another terminal"; });
        holds(entry.last == g_.symbol(g_.at(g_.last_of(rule)).symbol()).last,
              [&] { return name + " ends with another terminal"; });
    }

    const grammar& g_;
    std::vector<uint32_t> places_;  // of each symbol
    std::string wrong_;
    uint64_t nodes_ = 0;
    uint32_t rules_ = 0;
    uint32_t terminals_ = 0;
    uint32_t indexed_ = 0;
};

std::string check_path(const grammar& g, const cursor& c) {
    if (c.depth == 0 || c.depth > cursor::most_frames) return "a cursor without frames";
    for (unsigned i = 0; i < c.depth; ++i) {
        const frame& f = c.frames[i];
        if (f.at() >= g.nodes_end() || g.at(f.at()).freed() || g.at(f.at()).guard()) return "a cursor at a freed node";
        const node& n = g.at(f.at());
        if (f.done() >= n.exponent())
            return "a cursor in repetition " + std::to_string(f.done()) + " of " + text(g, n.run());
        const bool last = i + 1 == c.depth;
        if (!last && !g.symbol(n.symbol()).is_rule()) return "a path that goes on below a terminal";
        if (!last && g.rule_of(c.frames[i + 1].at()) != n.symbol())
            return "nesting: a frame is not in the rule above it";
    }
    const symbol_index outermost = g.rule_of(c.frames[0].at());
    if (outermost != start_rule && g.symbol(outermost).newest == nothing)
        return "utility: a path begins in an unused rule";
    if (!(c.weight > 0)) return "a cursor that weighs nothing";
    return {};
}

}  // namespace

std::string check(const grammar& g) {
    return examination(g).result();
}

std::string check(const grammar& g, const cursor_set& cursors) {
    std::vector<uint32_t> frames(g.nodes_end(), 0);
    for (unsigned i = 0; i < cursors.size(); ++i) {
        if (std::string wrong = check_path(g, cursors[i]); !wrong.empty()) return wrong;
        for (unsigned k = 0; k < cursors[i].depth; ++k) ++frames[cursors[i].frames[k].at()];
    }
    for (node_index i = 0; i < g.nodes_end(); ++i) {
        if (!g.at(i).freed() && g.at(i).marks() != frames[i])
            return "a node with " + std::to_string(g.at(i).marks()) + " marks and " + std::to_string(frames[i]) +
                   " frames";
    }
    if (!(cursors.lost() >= 0)) return "a negative weight was lost";
    return {};
}

}  // namespace halcyon::predict
