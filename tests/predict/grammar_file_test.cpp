#include "predict/grammar/grammar_file.hpp"

#include <gtest/gtest.h>

#include "checked_learning.hpp"
#include "written_model.hpp"

namespace halcyon::predict {
namespace {

using namespace halcyon::tests;

/// Why a model is refused; empty when it is not.
std::string refusal(const model_bytes& model) {
    grammar g(1 << 20);
    const auto why = load(g, model, "run.model");
    return why ? why->message : "";
}

const std::vector<uint32_t> terminals{'a', 'b', 'c'};

TEST(grammar_file, a_second_run_goes_on_with_what_the_first_one_knew) {
    for (unsigned kind = 0; kind < kinds; ++kind) {
        randomness random(kind);
        stream input = of_kind(kind, 3000, random);
        predictor first;
        for (const uint32_t s : input) first.append(s);
        predictor second;
        const auto why = load(second.model(), saved(first.model()), "run.model");
        ASSERT_FALSE(why) << why->message;
        ASSERT_EQ(fault_of(second, input, input.size()), "") << "kind " << kind;
        second.begin_again();
        const stream more = of_kind(kind, 1000, random);
        for (size_t i = 0; i < more.size(); ++i) {
            input.push_back(more[i]);
            second.append(more[i]);
            if (i % 50 != 0) continue;
            ASSERT_EQ(fault_of(second, input, input.size()), "") << "kind " << kind;
        }
    }
}

TEST(grammar_file, a_loaded_model_predicts_from_the_first_symbol_on) {
    predictor first;
    const stream input = letters("oaaabaaabaaabcaaabaaabaaabcx");
    for (const uint32_t s : input) first.append(s);
    predictor second;
    ASSERT_FALSE(load(second.model(), saved(first.model()), "run.model"));
    second.begin_again();
    for (const uint32_t s : input) second.append(s);
    EXPECT_EQ(second.scored().hits, input.size());
}

TEST(grammar_file, an_empty_model_is_one) {
    const grammar g(1 << 16);
    EXPECT_EQ(refusal(saved(g)), "");
}

TEST(grammar_file, what_had_been_full_is_put_in_order) {
    randomness random(5);
    const stream input = quotations(20'000, 40, random);
    predictor small({.bound_bytes = 30'000});
    for (const uint32_t s : input) small.append(s);
    ASSERT_TRUE(small.model().full());
    predictor large;
    const auto why = load(large.model(), saved(small.model()), "run.model");
    ASSERT_FALSE(why) << why->message;
    EXPECT_FALSE(large.model().full());
    EXPECT_EQ(large.model().unlearned(), small.model().unlearned());
    EXPECT_EQ(fault_of(large, input, small.model().length()), "");
}

/// R → b c A, A → b c: R becomes A^2, which is no rule, and S a run of A.
TEST(grammar_file, a_rule_reduced_to_a_single_run_gives_way_to_it) {
    grammar g(1 << 16);
    const auto model =
        written_model(terminals, {{{4, 1}, {0, 1}, {4, 3}}, {{1, 1}, {2, 1}, {5, 1}}, {{1, 1}, {2, 1}}}, true);
    const auto why = load(g, model, "run.model");
    ASSERT_FALSE(why) << why->message;
    EXPECT_EQ(check(g), "");
    EXPECT_EQ(g.made().rules_collapsed, 1u);
    EXPECT_EQ(g.rules(), 2u);
    EXPECT_EQ(g.at(g.tail()).exponent(), 6u);
}

/// S → a R c, R → a b: R is used once, and its a belongs to the run before it.
TEST(grammar_file, runs_that_meet_when_a_rule_gives_way_are_joined) {
    grammar g(1 << 16);
    ASSERT_FALSE(load(g, written_model(terminals, {{{0, 1}, {4, 1}, {2, 1}}, {{0, 1}, {1, 1}}}, true), "run.model"));
    EXPECT_EQ(check(g), "");
    EXPECT_EQ(g.rules(), 1u);
    EXPECT_EQ(g.at(g.first_of(start_rule)).exponent(), 2u);
}

TEST(grammar_file, other_files_and_versions_are_refused) {
    model_bytes model = written_model(terminals, {{{0, 1}, {1, 1}}});
    EXPECT_EQ(refusal(model), "");
    model[8] = 9;
    EXPECT_EQ(refusal(model),
              "run.model: at byte 8: version 9; this release reads version 1: let the program learn anew");
    model[0] = 'h';
    EXPECT_EQ(refusal(model), "run.model: at byte 0: this is no model of Halcyon");
}

TEST(grammar_file, a_file_cut_short_or_too_long_is_refused) {
    model_bytes model = written_model(terminals, {{{0, 1}, {1, 1}}});
    model.push_back(0);
    EXPECT_NE(refusal(model), "");
    while (!model.empty()) {
        EXPECT_NE(refusal(model), "") << model.size();
        model.pop_back();
        if (model.size() == 56 + 12 + 4 + 24) model.pop_back();  // as it was
    }
}

TEST(grammar_file, each_flipped_bit_is_found) {
    const model_bytes model = written_model(terminals, {{{0, 1}, {1, 1}}});
    for (size_t bit = 0; bit < 8 * model.size(); ++bit) {
        model_bytes flipped = model;
        flipped[bit / 8] = static_cast<unsigned char>(flipped[bit / 8] ^ 1 << bit % 8);
        EXPECT_NE(refusal(flipped), "") << "bit " << bit;
    }
}

TEST(grammar_file, rules_that_make_no_sense_are_refused) {
    const auto says = [](const std::vector<std::vector<written_run>>& rules, const std::string& what) {
        const std::string why = refusal(written_model(terminals, rules));
        EXPECT_NE(why.find(what), std::string::npos) << why;
    };
    says({{{4, 2}}, {{5, 1}, {0, 1}}, {{4, 1}, {1, 1}}}, "a rule that is used");
    says({{{4, 2}}, {{4, 1}, {0, 1}}}, "a rule that is used by itself");
    says({{{0, 1}, {3, 1}}}, "a run of symbol 3, which is none or S");
    says({{{0, 1}, {9, 1}}}, "a run of symbol 9");
    says({{{0, 0}, {1, 1}}}, "an exponent of 0");
    says({{{0, uint64_t{1} << 40}, {1, 1}}}, "an exponent of 1099511627776");
    says({{{0, 1}, {0, 2}}}, "two runs of one symbol side by side");
    says({{{4, 2}}, {{0, 1}}}, "a rule of 1 runs");
    says({{{4, 1}, {1, 1}}, {{0, 1}, {2, 1}}}, "a rule that is used 1 times");
    says({{{0, 1}, {1, 1}, {2, 1}, {0, 1}, {1, 1}, {2, 1}}}, "a digram for the second time");
    says({{{4, 1u << 30}}, {{5, 1u << 30}, {0, 1}}, {{1, 1}, {2, 1}}}, "a rule that expands to more than 2^39 symbols");
    EXPECT_NE(refusal(written_model({'a', 'a'}, {{{0, 1}, {1, 1}}})), "");
}

TEST(grammar_file, damaged_models_are_refused_or_right) {
    randomness random(8);
    predictor p;
    for (const uint32_t s : quotations(2000, 6, random)) p.append(s);
    const model_bytes model = saved(p.model());
    unsigned accepted = 0;
    for (int run = 0; run < 5000; ++run) {
        model_bytes damaged = model;
        for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
            const size_t at = 12 + below(random, damaged.size() - 12);
            damaged[at] = static_cast<unsigned char>(random() % 2 == 0 ? random() : damaged[at] + 1);
        }
        mend_check_sum(damaged);
        grammar g(1 << 20);
        if (load(g, damaged, "run.model")) continue;
        ++accepted;
        ASSERT_EQ(check(g), "") << "run " << run;
    }
    EXPECT_GT(accepted, 0u);
}

TEST(grammar_file, a_bound_that_is_too_small_is_said) {
    randomness random(8);
    predictor p;
    for (const uint32_t s : uniform(5000, 1000, random)) p.append(s);
    grammar g(grammar::least_bytes);
    const auto why = load(g, saved(p.model()), "run.model");
    ASSERT_TRUE(why);
    EXPECT_EQ(why->kind, error_kind::usage);
    EXPECT_LE(g.bytes_peak(), grammar::least_bytes);
}

}  // namespace
}  // namespace halcyon::predict
