// What decisions have cost, told of phases that end in any order.
#include "coordinate/coordinator/decision_log.hpp"

#include <gtest/gtest.h>

#include <random>

namespace halcyon::coordinate {
namespace {

using participant = decision_log::participant;

decision_log::entry about(std::vector<participant> who) {
    decision_log::entry made;
    made.pending = std::move(who);
    return made;
}

TEST(decision_log, adds_up_what_the_phases_cost_that_were_decided_about) {
    decision_log log(2);
    log.add(about({{1, 0}, {2, 0}}));
    log.add(about({{2, 0}, {3, 0}}));
    log.phase_ended({2, 0}, 5);
    log.phase_ended({2, 0}, 7);  // not pending any more
    log.phase_ended({3, 1}, 9);  // another phase
    EXPECT_EQ(log.entries()[0].observed_cost, 5);
    EXPECT_EQ(log.entries()[0].pending.size(), 1U);
    EXPECT_EQ(log.entries()[1].observed_cost, 5);
    log.add(about({{1, 0}}));
    log.phase_ended({1, 0}, 1);
    EXPECT_EQ(log.entries().size(), 2U);
    EXPECT_EQ(log.entries()[0].observed_cost, 5) << "1 was in the one that is forgotten";
    EXPECT_EQ(log.entries()[1].observed_cost, 1);
}

TEST(decision_log, agrees_with_a_look_at_all_entries) {
    std::mt19937 random(5);
    decision_log log(20);
    std::deque<decision_log::entry> plain;
    std::vector<double> begun(30);  // of each application's phase
    for (int step = 0; step < 20'000; ++step) {
        const uint64_t id = random() % begun.size();
        if (random() % 3 == 0) {
            std::vector<participant> who;
            for (uint64_t one = 0; one < begun.size(); ++one)
                if (random() % 4 == 0) who.push_back({one, begun[one]});
            plain.push_back(about(who));
            if (plain.size() > 20) plain.pop_front();
            log.add(about(std::move(who)));
        } else {
            const bool breaks = random() % 4 == 0;
            const double cost = static_cast<double>(random() % 100);
            for (auto& one : plain) {
                if (std::erase_if(one.pending, [&](const participant& p) { return p.id == id; }) == 0) continue;
                one.observed_cost += breaks ? 0 : cost;
                one.broken = one.broken || breaks;
            }
            breaks ? log.phase_broken({id, begun[id]}) : log.phase_ended({id, begun[id]}, cost);
            begun[id] = step;
        }
        ASSERT_EQ(log.entries().size(), plain.size());
        for (size_t i = 0; i < plain.size(); ++i) {
            ASSERT_EQ(log.entries()[i].observed_cost, plain[i].observed_cost) << step;
            ASSERT_EQ(log.entries()[i].broken, plain[i].broken) << step;
            ASSERT_EQ(log.entries()[i].pending.size(), plain[i].pending.size()) << step;
        }
    }
}

}  // namespace
}  // namespace halcyon::coordinate
