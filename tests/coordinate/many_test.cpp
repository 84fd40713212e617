// Large numbers: of those that wait, of targets, of a job's nodes. Work that grows with their square does not come to an
// end within the time that this program may take.
#include <algorithm>

#include "coordinate/conversation.hpp"
#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {
namespace {

TEST(many, nodes_of_one_job_move_under_leases_of_a_fifth_of_a_second_and_are_not_closed) {
    settings how = conversation::quick(policy::rule::fcfs);
    conversation c(how);
    constexpr int nodes = 1000;
    constexpr int64_t moved_each = 10'000'000;  // in 0.1 s
    const auto name = [](int i) { return "n" + std::to_string(i); };
    for (int i = 0; i < nodes; ++i) {
        c.connect(name(i));
        c.say(name(i), conversation::registration_of("A", name(i)));
        c.now_s += 0.001;
    }
    for (int i = 0; i < nodes; ++i) {
        inform what = phase_of(1);
        what.lease = c.lease[name(i)];
        c.say(name(i), what);
    }
    for (int step = 0; step < 30; ++step) {
        c.now_s += 0.1;
        for (int i = 0; i < nodes; ++i) {
            progress what;
            what.lease = c.lease[name(i)];
            what.bytes_moved = moved_each;
            for (int repeat = 0; repeat < 3; ++repeat) c.say(name(i), heartbeat{});
            c.say(name(i), what);
        }
        c.lines.clear();
    }
    EXPECT_EQ(c.told.counted().refused_rate, 0U);
    EXPECT_NEAR(static_cast<double>(c.grants[name(nodes / 2)].back().bytes), 2 * moved_each, 1e5);
}

}  // namespace
}  // namespace halcyon::coordinate
