#pragma once

#include <cstdint>

#include "predict/grammar/grammar.hpp"

namespace halcyon::predict {

/// The input, given back symbol by symbol: `for (uint32_t s; walk.next(s);)`. The grammar must not change meanwhile.
/// Memory: 16 bytes for each level of nested rules, on the heap and not on the stack.
class expansion {
  public:
    explicit expansion(const grammar& g) : grammar_(g) {
        if (g.usable()) enter(g.guard_of(start_rule));
    }

    /// False at the end, and when there is no memory: see failed().
    [[nodiscard]] bool next(uint32_t& symbol) {
        while (!way_.empty() && !failed_) {
            level& here = way_[way_.size() - 1];
            const node& n = grammar_.at(here.at);
            if (here.left == 0) {
                step(here, n);
                continue;
            }
            --here.left;
            const symbol_entry& entry = grammar_.symbol(n.symbol());
            if (!entry.is_rule()) {
                symbol = entry.value;
                return true;
            }
            enter(entry.value);
        }
        return false;
    }
    [[nodiscard]] bool failed() const { return failed_; }

  private:
    struct level {
        uint64_t left;  // repetitions
        node_index at;
    };

    void enter(node_index guard) { failed_ = !way_.push({0, guard}); }
    void step(level& here, const node& n) {
        here.at = n.next();
        here.left = grammar_.at(here.at).exponent();
        if (grammar_.at(here.at).guard()) static_cast<void>(way_.pop());
    }

    const grammar& grammar_;
    calls::memory_bound bound_{SIZE_MAX};
    calls::growing_array<level> way_{bound_};
    bool failed_ = false;
};

}  // namespace halcyon::predict
