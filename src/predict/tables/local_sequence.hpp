#pragma once

#include <cstdint>

#include "predict/grammar/predictor.hpp"

namespace halcyon::predict {

/// What comes next in a sequence of few distinct numbers: the *local grammar* of Dorier 2014, section 7.2.2. As long as
/// they are all the same it takes no memory; the grammar begins with the first other one. A plain value, which its
/// owner releases: tables of these move in memory.
class local_sequence {
  public:
    /// Memory of one grammar; a sequence that outgrows it goes on predicting with what it knows.
    static constexpr size_t bound_bytes = size_t{16} << 10;
    /// Of one that was loaded: its arrays do not grow in the order in which they grew when it was learnt, and what had
    /// been full, or nearly so, would not fit again.
    static constexpr size_t loaded_bound_bytes = 2 * bound_bytes;
    static constexpr int unknown = -1;

    /// Scores what was predicted, and learns. False when a grammar is needed and there is no memory for one: then it
    /// predicts that all stays as it is.
    bool learn(uint32_t number, calls::memory_bound& memory);
    /// The most probable next one, or `unknown`.
    [[nodiscard]] int next() const;
    /// What comes on a walk ahead (predictor::step_ahead): the first time next(), and then what comes after that.
    [[nodiscard]] int next_on(uint64_t walk) const;
    /// Share of the last predictions that came true, 0 to 1; those of the last 16 weigh most.
    [[nodiscard]] float luck() const { return luck_; }

    /// Forgets everything, and gives the memory back.
    void release(calls::memory_bound& memory);

    /// For archives; numbers below `most` are right. Read into a new one, which knows nothing yet where its grammar
    /// takes more than loaded_bound_bytes, or than there is.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive, [[maybe_unused]] uint32_t most) {
        archive.number(self.last_);
        archive.number(self.run_);
        archive.number(self.luck_);
        bool grammar = self.grammar_ != nullptr;
        archive.number(grammar);
        if constexpr (Archive::reads) {
            if (self.last_ >= most) archive.fail("a number that is not of its sequence");
            if (self.run_ > longest_beginning) archive.fail("a beginning longer than any that is kept");
            if (!grammar || !archive.good()) return;
            // What goes on learning until it is full again, run after run, does not fit at last.
            if (!self.make_grammar(archive.memory(), loaded_bound_bytes)) return archive.skip_grammar();
            if (!archive.grammar_that_fits(*self.grammar_, most)) self.release(archive.memory());
        } else if (grammar) {
            archive.grammar(*self.grammar_);
        }
    }
    /// Of a table for which there is no memory: reads one, and forgets it.
    template <class Archive>
    static void skip(Archive& archive) {
        local_sequence unread;
        bool grammar = false;
        archive.number(unread.last_);
        archive.number(unread.run_);
        archive.number(unread.luck_);
        archive.number(grammar);
        if (grammar) archive.skip_grammar();
    }

  private:
    /// Longer beginnings are learnt as if they had this length: a run is a run.
    static constexpr uint32_t longest_beginning = 64;

    [[nodiscard]] bool make_grammar(calls::memory_bound& memory, size_t most_bytes);
    void drop_grammar(calls::memory_bound& memory);

    predictor* grammar_ = nullptr;
    uint32_t last_ = 0;
    uint32_t run_ = 0;  // how often the only one came; counts no further than it matters
    float luck_ = 0;
};

}  // namespace halcyon::predict
