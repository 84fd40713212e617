#pragma once

#include <cstdint>

#include "predict/grammar/index.hpp"

namespace halcyon::predict {

enum class symbol_kind : uint8_t { unused, terminal, rule };

/// A terminal or a rule, 48 bytes. What a rule expands to never changes while it lives, and so neither do `length`,
/// `first` and `last`.
struct symbol_entry {
    static symbol_entry fresh(uint32_t i) {
        symbol_entry entry;
        entry.label = entry.labelled = i;
        return entry;
    }

    uint64_t count = 0;           ///< how often it occurs in the input; of a rule: as the parse has it
    uint64_t length = 1;          ///< of what it expands to, in terminals
    uint32_t value = 0;           ///< terminal: the caller's number; rule: its guard
    node_index newest = nothing;  ///< occurrence
    symbol_index first = 0;       ///< terminal of its expansion
    symbol_index last = 0;        ///< terminal of its expansion
    uint32_t body = 0;            ///< nodes of the rule's body
    symbol_kind kind = symbol_kind::unused;
    bool queued = false;  ///< the rule waits to be looked at

    /// Nodes know their rule through a label: when a body moves into another rule, the smaller of both takes on the
    /// label of the larger, so that a node is relabelled at most log2(nodes) times. `label` is that of this rule,
    /// `labelled` the rule that has the label with this entry's index. Both are permutations of all indices.
    uint32_t label = 0;
    symbol_index labelled = 0;

    [[nodiscard]] bool is_rule() const { return kind == symbol_kind::rule; }

    [[nodiscard]] uint32_t next_free() const { return value; }
    void set_free(uint32_t next) {
        const uint32_t kept_label = label;
        const symbol_index kept_labelled = labelled;
        *this = {};
        label = kept_label;
        labelled = kept_labelled;
        value = next;
    }
};
static_assert(sizeof(symbol_entry) == 48);

}  // namespace halcyon::predict
