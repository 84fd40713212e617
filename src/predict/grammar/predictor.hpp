#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "predict/grammar/cursors.hpp"
#include "predict/grammar/grammar.hpp"

namespace halcyon::predict {

struct prediction {
    uint32_t symbol = 0;
    double probability = 0;
};

/// How far one of the rules that the input is in has come, in symbols of the input.
struct rule_progress {
    uint64_t length = 0;       ///< of one repetition of the rule
    uint64_t remaining = 0;    ///< until this repetition of the rule ends, the next symbol included
    uint64_t repetition = 0;   ///< of the rule, the first is 0; 0 of the outermost one, whose place is not known
    uint64_t repetitions = 0;  ///< how many there will be; 0: not known
    bool at_least = false;     ///< the repetitions were not seen from the first one on, or the rule is too long to walk
};

/// How the predictions did, the learning phase included.
struct score {
    uint64_t hits = 0;         ///< the most probable symbol came
    uint64_t misses = 0;       ///< another one came
    uint64_t unpredicted = 0;  ///< nothing was predicted
    double probability_sum =
        0;  ///< of the probabilities that the symbols had which came: over all it is the expected score
    uint64_t discoveries = 0;  ///< all cursors were wrong, or there were none: new ones were looked for
};

/// Learns a sequence of numbers, and says what comes next: Dorier 2014, section 7.2.2, with three extensions: cursors
/// carry their place in repetitions, probabilities follow from how often each context occurred instead of 1/n, and
/// after a miss a bounded number of nodes is visited instead of the whole grammar.
///
/// One thread. Nothing throws; no memory is taken but when the grammar's arenas grow, within their bound.
class predictor {
  public:
    struct settings {
        size_t bound_bytes = size_t{8} << 20;         ///< of the grammar: 8 MiB
        unsigned cursors = cursor_set::most_cursors;  ///< 1 to 15; 400 bytes each, and as many for ahead()
    };

    explicit predictor(const settings& chosen);
    /// Its memory is a part of that of `within`.
    predictor(const settings& chosen, calls::memory_bound& within);
    predictor() : predictor(settings{}) {}
    ~predictor();
    predictor(const predictor&) = delete;
    predictor& operator=(const predictor&) = delete;

    /// What came. In the thesis' order: scores what was predicted, updates the cursors on the grammar as it is,
    /// appends, discovers new cursors if none is left. Amortised O(1), see grammar; no scan.
    void append(uint32_t symbol);

    /// What comes next: distinct symbols, the most probable first, their probabilities at most 1 together; what they
    /// lack of it is what was not followed. Empty when nothing is known. Valid until the next call of append().
    [[nodiscard]] std::span<const prediction> next();

    /// What comes next, and then, and so on: each time the most probable symbol, given those before; `probability` is
    /// that of the whole way to there. Returns how many of `out` were filled: fewer than asked when nothing is known
    /// any more. Changes nothing. Cost: out.size() steps of the cursors. The first call takes memory for its own
    /// cursors.
    size_t ahead(std::span<prediction> out);
    /// ahead() in single steps. A walk has a number, never 0; the first step with another number begins a new walk.
    /// False when nothing is known any more. What is appended ends all walks.
    bool step_ahead(uint64_t walk, prediction& step);

    /// Where the heaviest cursor is, from the innermost rule to the outermost one; returns how many of `out` were
    /// filled. At the outermost frame the rule's uses are not told apart yet. Cost: O(depth + nodes behind the cursor
    /// in those rules), of which at most 4,096 are visited.
    [[nodiscard]] size_t progress(std::span<rule_progress> out) const;

    /// After a model was loaded: the input is about to begin anew, as the learnt one began.
    void begin_again();

    [[nodiscard]] const score& scored() const { return score_; }
    [[nodiscard]] const grammar& model() const { return grammar_; }
    [[nodiscard]] grammar& model() { return grammar_; }
    /// Of the grammar, its cursors, and those for looking ahead.
    [[nodiscard]] size_t bytes_used() const { return memory_.used(); }
    [[nodiscard]] const cursor_set& cursors() const { return cursors_; }
    /// Nodes visited by cursors and discoveries so far.
    [[nodiscard]] uint64_t visited() const { return visited_ + cursors_.visited(); }

  private:
    void score_one(uint32_t symbol);
    bool too_little_is_followed();
    void count_run(symbol_index terminal);
    void discover();
    bool discover_by_digrams(node_index previous, run last);
    bool discover_by_repetition(node_index previous);
    void discover_by_occurrences(node_index tail);
    bool begin_scratch();
    bool first_step(prediction& step);
    size_t gather(const cursor_set& from, std::span<prediction> out) const;
    [[nodiscard]] prediction run_goes_on() const;

    unsigned most_cursors_;
    calls::memory_bound memory_;
    grammar grammar_;
    cursor_set cursors_;
    cursor_set* scratch_ = nullptr;
    uint64_t walk_ = 0;  // under way; 0: none
    uint64_t walked_ = 0;
    prediction walked_to_;
    std::array<prediction, cursor_set::most_cursors> predictions_;
    size_t prediction_count_ = 0;
    bool predictions_known_ = false;

    // The end of the input, whether the grammar has learnt it or not.
    symbol_index last_ = nothing;        // terminal
    uint64_t run_length_ = 0;            // how many times it has just come
    symbol_index before_run_ = nothing;  // the terminal before those
    double luck_ = 1;                    // share of hits, of the last 64 predictions for the most part
    double agreed_luck_ = 0;             // likewise, of those with one symbol only
    uint64_t visited_ = 0;
    score score_;
};

}  // namespace halcyon::predict
