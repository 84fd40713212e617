// The bounds of the next phase, in ten patterns of phases and pauses on a clock that only the test moves.
#include <gtest/gtest.h>

#include "instances.hpp"
#include "predict/patterned_process.hpp"

namespace halcyon::tests {
namespace {

pattern_outcomes outcomes_of(const std::string& name, double& range) {
    const uint64_t seeds = instances(4, 10);
    pattern_outcomes found;
    double ranges = 0, count = 0;
    for (uint64_t seed = 1; seed <= seeds; ++seed)
        found.run(phase_pattern::made(name, 300, seed),
                  [&](const patterned_phase& next) { ranges += next.range_ns, ++count; });
    range = ranges / count;
    return found;
}

TEST(phase_interval_test, nine_of_ten_phases_begin_within_their_bounds) {
    for (const std::string& name : phase_pattern::names()) {
        double range = 0;
        const pattern_outcomes found = outcomes_of(name, range);
        for (const outcome* moment : {&found.at_end, &found.in_phase, &found.in_pause}) {
            EXPECT_GE(moment->coverage(), 0.85) << name << " " << (moment - &found.at_end);
            EXPECT_LE(moment->coverage(), 0.95) << name << " " << (moment - &found.at_end);
        }
        EXPECT_LE(found.at_end.settled_width / found.at_end.settled, 1.5 * range) << name;
    }
}

}  // namespace
}  // namespace halcyon::tests
