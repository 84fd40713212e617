// A mistaken or lying application loses only its own time. Eight honest applications do I/O for 600 simulated seconds;
// their mean slow-down beside a liar is compared with that beside the same application telling the truth, or, where it
// does no I/O at all, without it.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "coordinate/simulated_storage.hpp"
#include "instances.hpp"

namespace halcyon::coordinate {
namespace {

constexpr double seconds = 600;

settings how_under(policy::rule rule) {
    settings how;
    how.rule = rule;
    how.bounds.alternatives = false;
    how.interference.pairs = 256;
    return how;
}

std::vector<simulated> honest_ones() {
    std::vector<simulated> all;
    for (int i = 0; i < 8; ++i) {
        simulated one;
        one.name = "honest" + std::to_string(i);
        one.user = 1000 + static_cast<uint32_t>(i);
        one.alone_s = 0.5 + 0.5 * i;
        one.computes_s = 12 * one.alone_s + 8;
        all.push_back(one);
    }
    return all;
}

/// Mean over so many runs: one loss of 5 s by chance at a bad time is much of a single run.
double honest_slow_down(policy::rule rule, const std::vector<simulated>& others, uint32_t seeds = instances(10, 20)) {
    std::vector<simulated> all = honest_ones();
    all.insert(all.end(), others.begin(), others.end());
    double sum = 0;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        simulated_storage storage(how_under(rule), all, seed);
        storage.run(seconds);
        sum += storage.honest_slow_down() / seeds;
    }
    return sum;
}

simulated liar() {
    simulated one;
    one.name = "liar";
    one.user = 2000;
    one.alone_s = 4;
    one.computes_s = 40;
    return one;
}

/// Beside the same one, which tells the truth: the measure of most tests, made once for each rule.
double slow_down_beside_the_truth(policy::rule rule) {
    static std::map<policy::rule, double> known;
    const auto at = known.find(rule);
    return at != known.end() ? at->second : known.emplace(rule, honest_slow_down(rule, {liar()})).first->second;
}

void expect_within(double bound, double with, double without) {
    std::cout << "           mean slow-down of honest ones " << with << ", else " << without << "\n";
    EXPECT_LE(with, without * (1 + bound));
}

class liars : public testing::TestWithParam<policy::rule> {};
INSTANTIATE_TEST_SUITE_P(under, liars,
                         testing::Values(policy::rule::fcfs, policy::rule::interrupt, policy::rule::delay,
                                         policy::rule::fair_share, policy::rule::set_10, policy::rule::dynamic),
                         [](const auto& info) {
                             std::string name = policy::name_of(info.param);
                             std::erase(name, '-');
                             return name;
                         });

TEST_P(liars, who_forecasts_a_tenth_of_what_it_needs) {
    simulated one = liar();
    one.said = 0.1;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

TEST_P(liars, who_forecast_ten_times_what_they_need) {
    simulated one = liar();
    one.said = 10;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

TEST_P(liars, who_are_about_to_end_all_the_time) {
    simulated one = liar();
    one.never_ends = true;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

TEST_P(liars, who_are_about_to_end_all_the_time_and_say_that_they_hardly_move) {
    simulated one = liar();
    one.never_ends = true;
    one.told_speed = 1e-9;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

/// Whoever has to wait for one that does nothing waits for seconds: means of fewer runs differ by more than the bound.
constexpr uint32_t seeds_of_stalls = 20;

TEST_P(liars, who_take_the_turn_and_do_nothing) {
    simulated one = liar();
    one.stalls = true;
    expect_within(0.1, honest_slow_down(GetParam(), {one}, seeds_of_stalls),
                  honest_slow_down(GetParam(), {}, seeds_of_stalls));
}

TEST_P(liars, who_take_the_turn_and_say_that_a_call_is_under_way) {
    simulated one = liar();
    one.stalls = one.says_calls = true;
    expect_within(0.1, honest_slow_down(GetParam(), {one}, seeds_of_stalls),
                  honest_slow_down(GetParam(), {}, seeds_of_stalls));
}

TEST_P(liars, who_show_leases_that_they_have_invented) {
    simulated one = liar();
    one.invents_leases = true;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

TEST_P(liars, who_say_that_their_phases_follow_one_another_at_once) {
    simulated one = liar();
    one.between_s = 1e-300;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

TEST_P(liars, who_tell_of_a_byte_that_they_move_out_of_turn_all_the_time) {
    simulated one = liar();
    one.moves_unasked = true;
    expect_within(0.1, honest_slow_down(GetParam(), {one}), slow_down_beside_the_truth(GetParam()));
}

TEST_P(liars, of_whom_one_user_has_registered_hundreds) {
    std::vector<simulated> many;
    for (int i = 0; i < 100; ++i) {
        simulated one = liar();
        one.name += std::to_string(i);
        one.stalls = true;
        many.push_back(one);
    }
    const uint32_t seeds = instances(3, 8);
    expect_within(0.1, honest_slow_down(GetParam(), many, seeds), honest_slow_down(GetParam(), {}, seeds));
}

}  // namespace
}  // namespace halcyon::coordinate
