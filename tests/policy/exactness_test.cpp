// Decisions of dynamic about situations of all kinds, as the coordinator asks for them: against all schedules.
#include <gtest/gtest.h>

#include <bit>

#include "instances.hpp"
#include "policy/bounded_enumeration.hpp"
#include "policy/brute_force.hpp"
#include "policy/defined_groups.hpp"

namespace halcyon::policy {
namespace {

/// What was compared. A kind that is never drawn, or comes to nothing, would be no test.
struct tally {
    std::array<uint32_t, 9> of_size{};  ///< groups, by applications
    std::array<uint32_t, 4> of_metric{};
    uint32_t interrupted = 0, kept = 0, side_by_side = 0, expected = 0, relieved = 0, given_up = 0;
};

class exactness : public testing::Test {
  protected:
    /// `count` that are present, in so many situations; an enumeration gives up after so many positions.
    void compare(uint32_t count, uint32_t situations, uint64_t positions) {
        situation_maker random(count);
        for (uint32_t k = 0; k < situations; ++k) {
            // 37 and 128 have no factor in common: all kinds come.
            const random_situation some = random.make(count, situation_kind::of(37 * k % situation_kind::count));
            const auto minimise = static_cast<metric>((k + k / 4) % 4);
            const decision made =
                decider_.decide(some.now(), rule::dynamic, minimise, random_situation::now_s, some.how);
            const defined_groups defined(some, minimise);
            ASSERT_EQ(made.groups.size(), defined.found.size()) << k;
            for (const application& one : some.all) {
                if (one.state != movement::expected && one.left_s <= 0) {
                    ASSERT_TRUE(moves(made, one)) << k << ": it ends now";
                }
            }
            for (const defined_group& each : defined.found) {
                compare(made, defined, each, minimise, positions);
                ASSERT_FALSE(HasFailure()) << "of " << count << ", instance " << k;
            }
        }
    }
    tally seen;

  private:
    static bool moves(const decision& made, const application& one) {
        return std::ranges::count(made.move, one.id) > 0;
    }

    void compare(const decision& made, const defined_groups& defined, const defined_group& each, metric minimise,
                 uint64_t positions) {
        const auto its = std::ranges::find(made.groups, each.first_id(), &group_decision::first_id);
        ASSERT_NE(its, made.groups.end());
        ASSERT_EQ(its->applications, each.present);
        members first = 0, starving = 0;
        for (uint32_t i = 0; i < each.present; ++i) {
            if (moves(made, *each.all[i])) first |= members{1} << i;
            if (defined.starves(*each.all[i])) starving |= members{1} << i;
        }
        EXPECT_EQ(starving & ~first, 0U) << "nobody waits longer than the bound";
        if (each.present == 1) {
            EXPECT_EQ(first, 1U);
            ++seen.of_size[1];
            return;
        }
        ASSERT_EQ(its->expected, each.all.size() - each.present);
        if (its->why == reason::starving) {
            expect_no_company_but_apart(each, first & ~starving, first);
            ++seen.relieved;
        } else {
            ASSERT_TRUE(its->why == reason::least_cost || its->why == reason::smiths_rule) << name_of(its->why);
        }
        const alternative& decided = made.alternatives.at(its->alternatives_end - 1);
        ASSERT_EQ(decided.way, rule::dynamic);
        if (!expect_least(each, decided.cost, its->why == reason::starving ? 0 : first, positions)) {
            ++seen.given_up;
            return;
        }
        ++seen.of_size[each.of.count];
        ++seen.of_metric[static_cast<size_t>(minimise)];
        seen.interrupted += (each.of.moving & ~first) != 0 ? 1 : 0;
        seen.kept += each.of.moving != 0 && (each.of.moving & ~first) == 0 ? 1 : 0;
        seen.expected += each.all.size() > each.present ? 1 : 0;
        for (uint32_t i = 0; i < each.present; ++i)
            if ((first & each.of.shares_with[i] & ~(members{1} << i)) != 0 && (first >> i & 1) != 0) {
                ++seen.side_by_side;
                break;
            }
    }

    static void expect_no_company_but_apart(const defined_group& of, members others, members first) {
        for (uint32_t i = 0; i < of.present; ++i)
            if ((others >> i & 1) != 0) {
                EXPECT_EQ(of.of.shares_with[i] & first, members{1} << i);
            }
    }

    /// That no schedule costs less than what was decided, and one that begins like this costs no more. False: too many
    /// schedules.
    static bool expect_least(const defined_group& of, double decided_cost, members first, uint64_t positions) {
        const double cost = decided_cost - of.spent, error = 1e-9 * decided_cost + 1e-12;
        if (of.of.count <= 4) {
            brute_force all(of.of);
            EXPECT_NEAR(cost, all.best().first, error);
            if (first != 0) {
                EXPECT_NEAR(cost, all.best_after(first), error);
            }
            return true;
        }
        bounded_enumeration all(of.of);
        all.look_at_most(positions);
        const double least = all.least_cost(cost + error);
        if (!all.complete()) return false;
        EXPECT_NEAR(cost, least, error);
        if (first == 0) return true;
        const double its = all.least_cost(cost + error, first);
        if (!all.complete()) return false;
        EXPECT_NEAR(cost, its, error);
        return true;
    }

    decider decider_;
};

TEST_F(exactness, of_decisions_about_up_to_four) {
    for (uint32_t count = 1; count <= 4; ++count) compare(count, 768, 100'000);
    for (uint32_t size = 1; size <= 4; ++size) EXPECT_GT(seen.of_size[size], 400U) << size;
    for (const uint32_t one : seen.of_metric) EXPECT_GT(one, 400U);
    EXPECT_GT(seen.interrupted, 200U);
    EXPECT_GT(seen.kept, 200U);
    EXPECT_GT(seen.side_by_side, 400U);
    EXPECT_GT(seen.expected, 400U);
    EXPECT_GT(seen.relieved, 150U);
}

TEST_F(exactness, of_decisions_about_five_to_seven) {
    const uint32_t each = instances(32, 128);
    for (uint32_t count = 5; count <= 7; ++count) compare(count, each, 100'000);
    for (uint32_t size = 5; size <= 7; ++size) EXPECT_GT(seen.of_size[size], each * 50 / 128) << size;
    for (const uint32_t one : seen.of_metric) EXPECT_GT(one, each * 60 / 128);
    EXPECT_GT(seen.interrupted, each * 50 / 128);
    EXPECT_GT(seen.kept, each * 50 / 128);
    EXPECT_GT(seen.side_by_side, each * 100 / 128);
    EXPECT_GT(seen.expected, each * 50 / 128);
}

// Of half of them there are too many schedules for the enumeration.
TEST_F(exactness, of_decisions_about_eight) {
    const uint32_t situations = instances(100, 400);
    compare(8, situations, 100'000);
    EXPECT_GT(seen.of_size[8], situations * 60 / 400);
    for (const uint32_t one : seen.of_metric) EXPECT_GT(one, situations * 30 / 400);
    EXPECT_GT(seen.interrupted, situations * 40 / 400);
    EXPECT_GT(seen.kept, situations * 40 / 400);
    EXPECT_GT(seen.side_by_side, situations * 100 / 400);
}

}  // namespace
}  // namespace halcyon::policy
