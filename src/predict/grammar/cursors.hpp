#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "predict/grammar/cursor.hpp"
#include "predict/grammar/grammar.hpp"

namespace halcyon::predict {

/// Of places of which only some were looked at, with the weight `seen` of `all`: the share that is expected to be like
/// none of them. By the rule of succession one in `places + 1` of those that were not looked at.
[[nodiscard]] double not_like_seen(double all, double seen, unsigned places);

/// The predictors of Dorier 2014, section 7.2.2, as paths instead of marks alone: where in what was seen before the
/// input may be now. Nodes in a path are marked, so that a change of the grammar that touches no path asks one bit
/// field.
///
/// The set is bounded: at most `most` cursors are kept, the heaviest ones; of a rule that ends at most 8 uses are
/// followed, the newest ones; a step visits a bounded number of nodes. What goes on in a way that was not followed is
/// `lost` weight, part of all probabilities' denominator: nobody's forecast becomes surer because others were dropped.
class cursor_set {
  public:
    /// Without `marking` the cursors do not survive changes of the grammar: for looking ahead.
    cursor_set(grammar& of, calls::memory_bound& memory, unsigned most, bool marking);
    ~cursor_set();
    cursor_set(const cursor_set&) = delete;
    cursor_set& operator=(const cursor_set&) = delete;

    [[nodiscard]] unsigned size() const { return active_count_; }
    [[nodiscard]] bool empty() const { return active_count_ == 0; }
    [[nodiscard]] const cursor& operator[](unsigned i) const { return slots_[active_[i]]; }
    /// The terminal that a cursor expects.
    [[nodiscard]] symbol_index expected(const cursor& c) const {
        return grammar_.symbol(grammar_.at(c.last().at()).symbol()).first;
    }
    [[nodiscard]] double weight() const;
    [[nodiscard]] double lost() const { return lost_; }
    /// Weight of cursors that came to the end of S in the last step, which is now: they know nothing that the others do
    /// not, so it was shared out among these.
    [[nodiscard]] double at_end() const { return at_end_; }
    /// Nodes visited since the set was made.
    [[nodiscard]] uint64_t visited() const { return visited_; }
    [[nodiscard]] const cursor* heaviest() const;

    void clear();
    /// Cursors that do not expect `terminal` go; the others go on behind it (*update*).
    void advance(symbol_index terminal);
    /// A cursor behind the run that has just come, `done` times the terminal of the node `at` (*discover*).
    void add_behind(node_index at, uint64_t done, double weight, symbol_index before);
    /// The same where the run begins the repetition `repetition`, from 0, of the node `at`, which may be of a rule.
    /// None is made where it begins with a shorter run.
    void add_within(node_index at, uint64_t repetition, uint64_t done, double weight);
    /// A cursor at the beginning of the input.
    void add_at_beginning();
    void add_lost(double weight) { lost_ += weight; }
    /// How many uses of a rule are followed when it ends: 1 to `most_uses`.
    void follow(unsigned uses) { uses_followed_ = uses; }
    /// The cursors of `other`, which is on the same grammar, in addition; together they weigh `weight`.
    void add(const cursor_set& other, double weight);
    void add_all(const cursor_set& other);

    // What the grammar is about to change.
    /// The digram of these nodes gives way to a use of the rule with this body; the use takes the first node's place.
    void rule_used(node_index first, node_index second, node_index body_first, node_index body_second);
    /// The node `behind`, next to `use`, the use of a rule, becomes the last one of that rule's body, `body_last`.
    void rule_lengthened(node_index use, node_index behind, node_index body_last);
    /// The run `from` is added behind the run `into`, which has this exponent.
    void run_joined(node_index from, node_index into, uint64_t exponent);
    /// The only use of the rule gives way to its body.
    void rule_inlined(symbol_index rule, node_index use);

    static constexpr unsigned most_cursors =
        15;  // twice as many, active and under way, can be counted in a node's marks
    static constexpr unsigned most_uses = 8;

  private:
    using slot = uint8_t;

    [[nodiscard]] size_t slots_bytes() const { return size_t{2} * most_ * sizeof(cursor); }
    void mark(node_index i) const;
    void unmark(node_index i) const;
    [[nodiscard]] bool take_slot(slot& taken);
    [[nodiscard]] bool clone(slot from, slot& taken);
    void drop(slot s);
    void push(cursor& c, frame f) const;
    void pop(cursor& c) const;
    void drop_outermost(cursor& c) const;
    void erase_frame(cursor& c, unsigned i) const;
    void insert_frame(cursor& c, unsigned i, frame outer, frame inner) const;
    [[nodiscard]] bool descend(cursor& c);
    void go_on(slot s);
    void split(slot s, uint64_t done, uint64_t exponent);
    void branch(const cursor& c, symbol_index rule);
    void place(slot s);
    void settle();
    template <class Change>
    void change_frames_at(node_index at, Change change);
    void nest_frames_at(node_index at, node_index use, node_index body);

    grammar& grammar_;
    calls::memory_bound& memory_;
    unsigned most_;
    bool marking_;
    unsigned uses_followed_ = most_uses;
    cursor* slots_ = nullptr;
    uint32_t free_ = 0;               // a bit for each slot
    slot active_[most_cursors] = {};  // cursors
    slot pending_[2 * most_cursors];  // cursors whose last frame's repetition has just ended
    unsigned active_count_ = 0;
    unsigned pending_count_ = 0;
    double lost_ = 0;
    double at_end_ = 0;
    uint64_t visited_ = 0;
    uint64_t step_began_ = 0;  // visited_ then
};

}  // namespace halcyon::predict
