#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "policy/decide.hpp"

namespace halcyon::policy {

/// Which situations a seed makes.
struct situation_kind {
    bool demands = false;   ///< below the bandwidth, of every other situation far below it
    bool targets = false;   ///< one or two of four, or all
    bool learned = false;   ///< of most pairs: up to twice as slow, or half as slow, as proportionally
    bool moving = false;    ///< some have a turn, and an interruption costs something or more than it can gain
    bool expected = false;  ///< up to two are still to come
    bool unseen = false;    ///< writers without Halcyon take a part
    bool starving = false;  ///< some have waited for too long, or have just begun since they had

    static constexpr uint32_t count = 128;
    static situation_kind of(uint32_t number) {
        const auto bit = [&](uint32_t which) { return (number >> which & 1) != 0; };
        return {bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6)};
    }
};

/// Applications at a storage at `now_s`, in no particular order, and all that a decision about them goes by.
struct random_situation {
    static constexpr double now_s = 1000;
    std::vector<application> all;
    interference learned{{1U << 8U, 1.0 / 16, 0}};
    double unseen_share = 0;
    settings how;

    [[nodiscard]] situation now() const { return {all, &learned, nullptr, nullptr, unseen_share}; }
};

class situation_maker {
  public:
    explicit situation_maker(uint64_t seed) : random_(seed) {}

    /// `count` that are present, and up to two that are expected; eight together at most.
    random_situation make(uint32_t count, const situation_kind& kind) {
        random_situation made;
        const bool underload = kind.demands && chance(0.5);
        const uint32_t coming = kind.expected ? std::min<uint32_t>(1 + number_below(2), 8 - count) : 0;
        for (uint32_t i = 0; i < count + coming; ++i) {
            application one = any(kind, underload);
            one.id = 1 + (7 * i + 3) % 11;
            if (i < count)
                be_present(one, kind);
            else
                be_expected(one, kind);
            made.all.push_back(one);
        }
        if (kind.learned) learn(made);
        if (kind.unseen) made.unseen_share = 0.1 + 0.6 * some();
        made.how.interruption_s = std::array{0.0, 0.01, 0.5, 30.0}[number_below(4)];
        made.how.search_positions = 10'000'000;
        std::ranges::shuffle(made.all, random_);
        return made;
    }

  private:
    double some() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    double spread(double factor) { return std::pow(factor, some() - 0.5); }
    bool chance(double of_one) { return some() < of_one; }
    uint32_t number_below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

    application any(const situation_kind& kind, bool underload) {
        application one;
        one.processes = std::lround(100 * spread(20));
        one.nodes = 1 + number_below(64);
        one.watts_per_node = chance(0.1) ? 0 : 200 * spread(4);
        one.account = number_below(3);
        one.account_weight = std::array{1.0, 0.25, 3.0}[one.account];
        one.alone_s = one.left_s = 10 * spread(20);
        one.weight = spread(20);
        if (kind.demands) one.demand = underload ? 0.02 + 0.3 * some() : 0.1 + 0.9 * some();
        if (!kind.targets || chance(0.1)) return one;
        one.targets = {number_below(4)};
        if (chance(0.5)) one.targets.push_back(number_below(4));
        std::ranges::sort(one.targets);
        one.targets.erase(std::unique(one.targets.begin(), one.targets.end()), one.targets.end());
        return one;
    }

    void be_present(application& one, const situation_kind& kind) {
        constexpr double now_s = random_situation::now_s;
        one.state = movement::waiting;
        one.arrived_s = one.since_s = now_s - 20 * some();
        if (chance(0.5)) {
            one.left_s *= chance(0.08) ? 0 : 0.05 + 0.95 * some();
            one.state = movement::interrupted;
            one.since_s = now_s - (now_s - one.arrived_s) * some();
        }
        const bool starves = kind.starving && chance(0.2);
        if (starves) one.since_s = one.arrived_s = now_s - 30 - 20 * some();
        if (!kind.moving || !chance(0.4)) return;
        one.state = movement::moving;
        one.since_s = now_s - 4 * some();
        one.waited_s = starves ? 30 + some() : 5 * some();
    }

    /// Of one target, or all are alike: so it is clear with whom it is decided about.
    void be_expected(application& one, const situation_kind& kind) {
        one.state = movement::expected;
        one.arrived_s = random_situation::now_s + 0.01 + 12 * some();
        one.probability = 0.3 + 0.7 * some();
        if (kind.targets) one.targets = {number_below(4)};
    }

    void learn(random_situation& of) {
        for (const application& one : of.all) {
            for (const application& other : of.all) {
                if (one.id == other.id || chance(0.3)) continue;
                const double proportionally = proportional(one, other).first - 1;
                // Also where both fit beside one another.
                const double excess = proportionally > 0 ? proportionally * spread(4) : chance(0.5) ? 0.4 * some() : 0;
                of.learned.observe(one, other, 1 / (1 + excess));
            }
        }
    }

    std::mt19937_64 random_;
};

}  // namespace halcyon::policy
