// Hard decisions, of which many come at once, take no more than their share of the coordinator's time.
#include "coordinate/coordinator/search_budget.hpp"

#include <random>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

/// Eight applications of which some gain side by side, and that change what they say all the time, in `seconds`.
conversation busy_second(double positions_per_s, double seconds) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.search_positions_per_s = positions_per_s;
    how.per_user.messages_at_once = 1e9;
    how.stalled_s = how.stop_s = 1e6;
    conversation c(how);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> some(0, 1);
    const auto name = [](int i) { return "job" + std::to_string(i); };
    const auto stop_as_told = [&] {
        for (int i = 0; i < 8; ++i)
            for (const from_coordinator& one : std::exchange(c.answers[name(i)], {}))
                if (const auto* const back = std::get_if<recall>(&one)) c.say(name(i), stopped{back->lease});
    };
    for (int i = 0; i < 8; ++i) c.join(name(i));
    constexpr int changes = 400;
    for (int k = 0; k < changes; ++k) {
        inform what = phase_of(1, 0.5 + 10 * some(random));
        what.demand = 0.1 + 0.9 * some(random);
        c.say(name(k % 8), what);
        stop_as_told();
        c.now_s += seconds / changes;
    }
    return c;
}

TEST(search_budget, bounds_what_decisions_look_at_in_a_second) {
    const conversation free = busy_second(1e9, 1);
    const conversation bound = busy_second(1000, 1);
    // Each decision has 16 positions in any case.
    const double most = 2 * 1000 + 17.0 * static_cast<double>(bound.told.counted().decisions);
    EXPECT_GT(static_cast<double>(free.told.counted().positions), 2 * most);
    EXPECT_LE(static_cast<double>(bound.told.counted().positions), most);
    EXPECT_EQ(free.told.state().decisions_by_reason.count(policy::reason::search_budget), 0U);
    EXPECT_GT(bound.told.state().decisions_by_reason.at(policy::reason::search_budget), 0U);
}

TEST(search_budget, is_used_up_by_no_single_decision) {
    search_budget of(1000);
    EXPECT_EQ(of.left(0), 250U);
    of.spend(250);
    EXPECT_EQ(of.left(0), 250U);
    of.spend(700);
    EXPECT_EQ(of.left(0), 50U);
    EXPECT_EQ(of.left(0.1), 150U);
    EXPECT_EQ(of.left(100), 250U);
}

TEST(search_budget, is_filled_by_the_coordinators_clock) {
    const conversation fast = busy_second(1000, 1);
    const conversation slow = busy_second(1000, 100);
    EXPECT_GT(slow.told.counted().positions, fast.told.counted().positions);
    EXPECT_EQ(busy_second(1000, 1).told.counted().positions, fast.told.counted().positions);
}

}  // namespace
}  // namespace halcyon::coordinate
