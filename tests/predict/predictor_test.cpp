#include "predict/grammar/predictor.hpp"

#include <gtest/gtest.h>

#include "checked_learning.hpp"
#include "written_model.hpp"

namespace halcyon::predict {
namespace {

using namespace halcyon::tests;

std::string expected_by(const grammar& g, const cursor_set& cursors) {
    std::string all;
    for (unsigned i = 0; i < cursors.size(); ++i)
        all += static_cast<char>(g.symbol(cursors.expected(cursors[i])).value);
    std::ranges::sort(all);
    return all;
}

std::string learn(predictor& p, const stream& input) {
    for (const uint32_t s : input) p.append(s);
    std::string all;
    for (const prediction& one : p.next()) all += static_cast<char>(one.symbol);
    return all;
}

/// S → abAAe, A → cd. Predictors: a in S, c in the second A.
TEST(predictor, cursors_go_on_as_in_table_7_3_of_the_thesis) {
    grammar g(1 << 16);
    const auto model = written_model({'a', 'b', 'c', 'd', 'e'}, {{{0, 1}, {1, 1}, {6, 2}, {4, 1}}, {{2, 1}, {3, 1}}});
    ASSERT_FALSE(load(g, model, "table"));
    calls::memory_bound memory(SIZE_MAX);
    cursor_set cursors(g, memory, 15, true);
    cursors.add_at_beginning();
    const node_index twice = g.at(g.at(g.first_of(start_rule)).next()).next();
    cursors.add_behind(twice, 1, 1, nothing);
    EXPECT_EQ(expected_by(g, cursors), "ac");
    cursors.advance(g.find('c'));
    EXPECT_EQ(expected_by(g, cursors), "d");
    cursors.advance(g.find('d'));
    EXPECT_EQ(expected_by(g, cursors), "e");
    EXPECT_EQ(check(g, cursors), "");
}

/// S → abAAe, A → cdb, and then b.
TEST(predictor, cursors_are_discovered_as_in_table_7_4_of_the_thesis) {
    predictor p;
    const auto model =
        written_model({'a', 'b', 'c', 'd', 'e'}, {{{0, 1}, {1, 1}, {6, 2}, {4, 1}}, {{2, 1}, {3, 1}, {1, 1}}});
    ASSERT_FALSE(load(p.model(), model, "table"));
    EXPECT_EQ(learn(p, letters("b")), "ce");
    // b came before c twice, as the two A were not told apart, and before e once.
    EXPECT_NEAR(p.next()[0].probability, 2.0 / 3, 1e-9);
    EXPECT_NEAR(p.next()[1].probability, 1.0 / 3, 1e-9);
}

stream three_loops() {
    stream all;
    for (int outer = 0; outer < 5; ++outer) {
        for (int middle = 0; middle < 10; ++middle) {
            all.insert(all.end(), 40, 'a');
            add(all, letters("bc"));
        }
        add(all, letters("de"));
    }
    add(all, letters("fgh"));
    return all;
}

TEST(predictor, nested_loops_are_predicted_after_the_first_iteration) {
    predictor p;
    const stream one = three_loops();
    learn(p, one);
    p.append(one[0]);  // that the whole begins again was never seen
    const score before = p.scored();
    for (size_t i = 1; i < 10 * one.size(); ++i) p.append(one[i % one.size()]);
    EXPECT_EQ(p.scored().misses, before.misses);
    EXPECT_EQ(p.scored().unpredicted, before.unpredicted);
}

TEST(predictor, a_run_shorter_than_known_ones_goes_on_and_ends_with_them) {
    predictor p;
    learn(p, letters("xaaaaabyxaaaa"));
    EXPECT_EQ(p.next()[0].symbol, uint32_t{'a'});
    p.append('a');
    EXPECT_EQ(p.next()[0].symbol, uint32_t{'b'});
}

TEST(predictor, a_run_longer_than_known_ones_goes_on) {
    predictor p;
    learn(p, letters("xaaabyxaaaaaa"));
    EXPECT_EQ(p.next()[0].symbol, uint32_t{'a'});
}

TEST(predictor, a_count_that_drifts_costs_a_few_misses_each_time) {
    predictor p;
    stream input;
    for (uint32_t n = 20; n < 120; ++n) {
        add(input, letters("ab"), n);
        input.push_back('c');
    }
    learn(p, input);
    EXPECT_LE(p.scored().misses + p.scored().unpredicted, 5u * 100);
}

TEST(predictor, two_phases_in_turn_are_told_apart) {
    predictor p;
    stream both;
    add(both, letters("xy"), 20);
    add(both, letters("zwv"), 10);
    for (int i = 0; i < 3; ++i) learn(p, both);
    const score before = p.scored();
    for (int i = 0; i < 20; ++i) learn(p, both);
    EXPECT_EQ(p.scored().hits - before.hits, 20 * both.size());
}

/// What came before has no digram in which the end of the new loop meets its beginning: its rounds tell.
TEST(predictor, a_loop_of_pieces_that_were_known_in_another_order_is_known_after_some_rounds) {
    predictor p({.bound_bytes = 1 << 20, .cursors = 3});
    const auto learn_all = [&](const std::string& text, int times) {
        for (int i = 0; i < times; ++i) learn(p, letters(text));
    };
    learn_all("oaaaaaabab", 1);
    learn_all("oaaaaaaaab", 3);
    learn_all("oaaaaaaba", 2);
    learn_all("oaaaaaaaab", 6);
    learn_all("oaaaaaabab", 1);
    learn_all("oaaaaaaba", 10);
    learn_all("oaaaaaabb", 1);
    learn_all("oaaaaaab", 5);
    const score before = p.scored();
    learn_all("oaaaaaab", 20);
    EXPECT_EQ(p.scored().hits - before.hits, 20u * 8);
}

TEST(predictor, probabilities_of_a_random_branch_are_its_frequencies) {
    predictor p({.bound_bytes = size_t{64} << 20});
    randomness random(4);
    double sum = 0;
    double of_a = 0;
    for (int i = 0; i < 30'000; ++i) {
        p.append('x');
        if (i >= 10'000) {
            for (const prediction& one : p.next()) {
                sum += one.probability;
                if (one.symbol == 'a') of_a += one.probability;
            }
        }
        p.append(random() % 10 < 7 ? 'a' : 'b');
        p.append('y');
    }
    EXPECT_NEAR(of_a / sum, 0.7, 0.03);
    EXPECT_GE(sum / 20'000, 0.8);
}

TEST(predictor, recovery_visits_few_nodes) {
    for (unsigned kind = 0; kind < kinds; ++kind) {
        randomness random(kind);
        predictor p({.bound_bytes = size_t{64} << 20});
        uint64_t most = 0;
        for (const uint32_t s : of_kind(kind, 60'000, random)) {
            const uint64_t before = p.visited();
            p.append(s);
            most = std::max(most, p.visited() - before);
        }
        EXPECT_LE(most, 1000u) << "kind " << kind;
    }
}

TEST(predictor, looking_ahead_tells_what_then_happens) {
    predictor p;
    stream one;
    for (int i = 0; i < 3; ++i) {
        add(one, letters("aaab"), 4);
        add(one, letters("cd"));
    }
    one.push_back('e');
    for (int i = 0; i < 4; ++i) learn(p, one);
    std::vector<prediction> out(3 * one.size());
    for (size_t i = 0; i < one.size(); ++i) {
        p.append(one[i]);
        ASSERT_EQ(p.ahead(out), out.size()) << "step " << i;
        for (size_t k = 0; k < out.size(); ++k) {
            ASSERT_EQ(out[k].symbol, one[(i + 1 + k) % one.size()]) << "step " << i << ", ahead " << k;
        }
        EXPECT_EQ(check(p.model(), p.cursors()), "");
    }
}

TEST(predictor, looking_ahead_in_a_run_that_was_never_seen_to_end) {
    predictor p;
    learn(p, stream(9, 'a'));
    std::vector<prediction> out(3);
    ASSERT_EQ(p.ahead(out), 3u);
    EXPECT_EQ(out[2].symbol, uint32_t{'a'});
    EXPECT_NEAR(out[2].probability, 0.9 * 0.9 * 0.9, 1e-9);
}

TEST(predictor, without_memory_for_looking_ahead_one_step_is_known) {
    size_t with_one_step = 0;
    for (size_t bytes = 1000; bytes < 20'000; bytes += 100) {
        calls::memory_bound all(bytes);
        predictor p({.bound_bytes = 1 << 14, .cursors = 3}, all);
        for (int i = 0; i < 10; ++i) learn(p, letters("abbc"));
        prediction step;
        size_t known = 0;
        for (int i = 0; i < 5; ++i) known += p.step_ahead(1, step) ? 1 : 0;
        EXPECT_TRUE(known == 0 || known == 1 || known == 5) << bytes << ": " << known;
        with_one_step += known == 1 ? 1 : 0;
    }
    EXPECT_GT(with_one_step, 0u);
}

TEST(predictor, progress_tells_how_much_of_each_loop_is_left) {
    predictor p;
    const stream one = three_loops();
    for (int i = 0; i < 3; ++i) learn(p, one);
    // One middle loop and five more a.
    for (size_t i = 0; i < 42 + 5; ++i) p.append(one[i]);
    std::vector<rule_progress> levels(8);
    const size_t depth = p.progress(levels);
    ASSERT_GE(depth, 3u);
    EXPECT_EQ(levels[0].length, 42u);
    EXPECT_EQ(levels[0].remaining, 37u);
    EXPECT_EQ(levels[0].repetition, 1u);
    EXPECT_EQ(levels[0].repetitions, 10u);
    EXPECT_EQ(levels[1].length, 422u);
    EXPECT_EQ(levels[1].remaining, 422u - 47);
    EXPECT_EQ(levels[1].repetitions, 5u);
}

TEST(predictor, progress_counts_the_runs_behind) {
    predictor p;
    for (int i = 0; i < 5; ++i) learn(p, letters("abcccd"));
    p.append('a');
    std::vector<rule_progress> levels(8);
    ASSERT_GE(p.progress(levels), 1u);
    EXPECT_EQ(levels[0].length, 6u);
    EXPECT_EQ(levels[0].remaining, 5u);
}

TEST(predictor, a_loop_entered_at_an_unknown_place_ends_as_likely_at_each) {
    predictor p;
    learn(p, letters("xababababcyxababababcyzab"));
    ASSERT_EQ(p.next().size(), 2u);
    EXPECT_NEAR(p.next()[0].probability, 0.75, 1e-9);
    EXPECT_EQ(p.next()[1].symbol, uint32_t{'c'});
    EXPECT_NEAR(p.next()[1].probability, 0.25, 1e-9);
}

TEST(predictor, what_came_before_a_loop_tells_that_it_has_just_begun) {
    predictor p;
    learn(p, letters("ababababckababababcab"));
    EXPECT_EQ(p.next()[0].symbol, uint32_t{'a'});
    EXPECT_NEAR(p.next()[0].probability, 1, 1e-9);
}

/// S → R c R a b, and a cursor between a and b: R^2 it is then, and the cursor in the second R.
TEST(cursors, keep_their_repetition_when_runs_are_joined) {
    grammar g(1 << 16);
    calls::memory_bound memory(SIZE_MAX);
    cursor_set cursors(g, memory, 15, true);
    for (const uint32_t s : letters("abcabab")) g.append(g.intern(s));
    cursors.add_behind(g.at(g.tail()).previous(), 1, 1, nothing);
    ASSERT_EQ(cursors.size(), 1u);
    g.append(g.intern('d'));
    EXPECT_EQ(check(g, cursors), "");
    ASSERT_EQ(cursors[0].depth, 2u);
    EXPECT_EQ(g.at(cursors[0].frames[0].at()).exponent(), 2u);
    EXPECT_EQ(cursors[0].frames[0].done(), 1u);
    EXPECT_EQ(expected_by(g, cursors), "b");
}

TEST(predictor, a_symbol_never_seen_predicts_nothing) {
    predictor p;
    EXPECT_TRUE(p.next().empty());
    EXPECT_EQ(learn(p, letters("abcabcz")), "");
    EXPECT_EQ(p.scored().unpredicted, 4u);  // a, b, c, and a again
}

TEST(predictor, few_cursors_are_enough_for_loops) {
    predictor p({.bound_bytes = 1 << 16, .cursors = 1});
    const stream one = three_loops();
    for (int i = 0; i < 2; ++i) learn(p, one);
    const score before = p.scored();
    learn(p, one);
    EXPECT_EQ(p.scored().hits - before.hits, one.size());
}

}  // namespace
}  // namespace halcyon::predict
