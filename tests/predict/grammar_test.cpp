#include "predict/grammar/grammar.hpp"

#include <gtest/gtest.h>

#include "checked_learning.hpp"

namespace halcyon::predict {
namespace {

using namespace halcyon::tests;

std::string rule_text(const grammar& g, symbol_index rule) {
    std::string text;
    for (node_index i = g.first_of(rule); !g.at(i).guard(); i = g.at(i).next()) {
        const symbol_entry& s = g.symbol(g.at(i).symbol());
        if (!text.empty()) text += ' ';
        text += s.is_rule() ? "(" + rule_text(g, g.at(i).symbol()) + ")" : std::string(1, static_cast<char>(s.value));
        if (g.at(i).exponent() > 1) text += "^" + std::to_string(g.at(i).exponent());
    }
    return text;
}

/// The grammar as one expression: rules in parentheses where they are used.
std::string learnt(const std::string& input) {
    grammar g(1 << 20);
    for (const uint32_t s : letters(input)) g.append(g.intern(s));
    return rule_text(g, start_rule);
}

TEST(grammar, a_loop_of_any_length_is_one_node) {
    grammar g(grammar::least_bytes);
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(g.append(g.intern(7)));
    EXPECT_EQ(g.size(), 1u);
    EXPECT_EQ(g.length(), 100'000u);
    EXPECT_EQ(g.at(g.tail()).exponent(), 100'000u);
}

TEST(grammar, a_digram_that_comes_again_becomes_a_rule) {
    EXPECT_EQ(learnt("abxabyz"), "(a b) x (a b) y z");
}

TEST(grammar, a_rule_used_once_gives_way_to_its_body) {
    EXPECT_EQ(learnt("abcxabcyz"), "(a b c) x (a b c) y z");
}

TEST(grammar, repeated_rules_are_one_run) {
    EXPECT_EQ(learnt("abababababc"), "(a b)^5 c");
}

TEST(grammar, the_last_run_is_looked_up_when_it_has_ended) {
    EXPECT_EQ(learnt("abab"), "a b a b");
    EXPECT_EQ(learnt("ababa"), "(a b)^2 a");
}

TEST(grammar, runs_of_other_lengths_are_other_digrams) {
    EXPECT_EQ(learnt("aaabxaaaaabyaaabz"), "(a^3 b) x a^5 b y (a^3 b) z");
}

TEST(grammar, nested_loops_are_nested_runs) {
    std::string input;
    for (int outer = 0; outer < 3; ++outer) {
        for (int inner = 0; inner < 4; ++inner) input += "aaaaab";
        input += "c";
    }
    EXPECT_EQ(learnt(input + "x"), "((a^5 b)^4 c)^3 x");
}

TEST(grammar, growing_runs_take_two_nodes_for_each_count) {
    grammar g(1 << 20);
    for (const uint32_t s : drifting_counts(20'000)) g.append(g.intern(s));
    EXPECT_LE(g.size(), 2u * 200);
}

TEST(grammar, all_short_words_are_right_at_each_step) {
    constexpr size_t length = 10;
    constexpr size_t words = 59'049;  // of ten letters out of three; shorter ones are their beginnings
    for (size_t word = 0; word < words; ++word) {
        stream input;
        for (size_t rest = word; input.size() < length; rest /= 3) input.push_back(static_cast<uint32_t>(rest % 3));
        predictor p({.bound_bytes = 1 << 16, .cursors = 4});
        for (size_t i = 0; i < length; ++i) {
            p.append(input[i]);
            // The beginning was looked at with an earlier word, which differs behind it only.
            if (i < 5 && word >= 243) continue;
            ASSERT_EQ(fault_of(p, input, i + 1), "") << "word " << word << ", step " << i;
        }
    }
}

TEST(grammar, streams_of_all_kinds_are_right_at_each_step) {
    for (unsigned kind = 0; kind < kinds; ++kind) {
        randomness random(kind);
        predictor p;
        ASSERT_EQ(fault_while_learning(p, of_kind(kind, 700, random), 1), "") << "kind " << kind;
    }
}

TEST(grammar, many_streams_are_right_in_the_end) {
    grammar::changes all;
    for (unsigned seed = 0; seed < 20 * kinds; ++seed) {
        randomness random(seed);
        predictor p;
        ASSERT_EQ(fault_while_learning(p, of_kind(seed % kinds, 1000, random), 97), "") << "seed " << seed;
        all.rules_inlined += p.model().made().rules_inlined;
        all.rules_lengthened += p.model().made().rules_lengthened;
        all.runs_joined += p.model().made().runs_joined;
    }
    EXPECT_GT(all.rules_inlined, 500u);
    EXPECT_GT(all.rules_lengthened, 500u);
    EXPECT_GT(all.runs_joined, 500u);
}

TEST(grammar, long_streams_are_right) {
    for (unsigned kind = 0; kind < kinds; ++kind) {
        randomness random(kind);
        predictor p({.bound_bytes = size_t{64} << 20});
        ASSERT_EQ(fault_while_learning(p, of_kind(kind, 50'000, random), 20'000), "") << "kind " << kind;
    }
}

/// Labels are the one thing that costs more than O(1): log2 of the nodes at most.
TEST(grammar, changes_are_few_for_each_symbol) {
    for (unsigned kind = 0; kind < kinds; ++kind) {
        randomness random(kind);
        grammar g(size_t{64} << 20);
        const stream input = of_kind(kind, 100'000, random);
        for (const uint32_t s : input) g.append(g.intern(s));
        const auto& made = g.made();
        const double symbols = static_cast<double>(input.size());
        const uint64_t changes = made.rules_made + made.rules_used + made.rules_inlined + made.rules_lengthened;
        EXPECT_LE(changes + made.runs_joined, 4 * symbols) << kind;
        EXPECT_LE(made.relabelled, 4 * symbols) << kind;
    }
}

TEST(grammar, long_repeated_passages_are_not_relabelled_again_and_again) {
    randomness random(1);
    stream input = uniform(50'000, 1'000'000, random);
    add(input, stream(input));
    grammar g(size_t{64} << 20);
    for (const uint32_t s : input) g.append(g.intern(s));
    EXPECT_LE(g.made().relabelled, 4u * input.size());
}

TEST(grammar, memory_stays_within_the_bound) {
    constexpr size_t bound = size_t{8} << 20;
    predictor p({.bound_bytes = bound});
    const stream loop = letters("aaabaaabcd");
    stream input;
    add(input, loop, 100);
    for (const uint32_t s : input) p.append(s);
    for (uint32_t s = 1000; s < 10'001'000; ++s) p.append(s);
    EXPECT_TRUE(p.model().full());
    EXPECT_LE(p.model().bytes_peak(), bound);
    EXPECT_GT(p.model().bytes_peak(), bound / 2);
    EXPECT_EQ(p.model().unlearned() + p.model().length(), 10'001'000u);
    EXPECT_EQ(check(p.model()), "");
    // What was learnt before predicts on.
    const score before = p.scored();
    for (const uint32_t s : input) p.append(s);
    EXPECT_GE(p.scored().hits - before.hits, input.size() - 10);
}

TEST(grammar, a_small_bound_is_kept_at_each_step) {
    for (unsigned kind = 0; kind < kinds; ++kind) {
        randomness random(kind);
        predictor p({.bound_bytes = 16'000});
        for (const uint32_t s : of_kind(kind, 20'000, random)) p.append(s);
        EXPECT_LE(p.model().bytes_peak(), 16'000u);
        EXPECT_EQ(check(p.model()), "") << "kind " << kind;
        EXPECT_EQ(check(p.model(), p.cursors()), "") << "kind " << kind;
    }
}

}  // namespace
}  // namespace halcyon::predict
