#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "policy/problem.hpp"

namespace halcyon::policy {

/// What a search has learnt of positions: the least that schedules cost from there on. Turns that have nothing to do
/// with one another lead to the same position in any order, and those before a position change nothing after it.
///
/// Bounded: of positions in each other's way, the one that is forgotten has the fewest unfinished, so that it took the
/// least time.
class seen_positions {
  public:
    /// Forgets all. Searches of few and of more applications take turns: the room for more stays.
    void clear(const problem& of) {
        of_ = &of;
        used_ = of.count <= 8 ? size_t{1} << 14 : size_t{1} << 18;
        if (places_.size() < used_) places_.resize(used_);
        if (++round_ == 0) {
            places_.assign(places_.size(), {});
            round_ = 1;
        }
        for (uint32_t i = 0; i < of.count; ++i) scale_[i] = 0x1p30 / of.left_s[i];
    }

    /// `at_s` of a position at which all have arrived does not matter: 0. -infinity: not known.
    [[nodiscard]] double least_cost(members unfinished, const problem::values& left_s, double at_s) const {
        const size_t home = place_of(unfinished, left_s, at_s);
        for (size_t k = 0; k < ways; ++k) {
            const place& one = places_[home + k];
            if (is(one, unfinished, left_s, at_s)) return one.cost;
        }
        return -std::numeric_limits<double>::infinity();
    }

    void learn(members unfinished, const problem::values& left_s, double at_s, double cost) {
        const size_t home = place_of(unfinished, left_s, at_s);
        place* taken = &places_[home];
        for (size_t k = 0; k < ways; ++k) {
            place& one = places_[home + k];
            if (is(one, unfinished, left_s, at_s)) {
                one.cost = std::max(one.cost, cost);
                return;
            }
            if (worth(one) < worth(*taken)) taken = &one;
        }
        *taken = {round_, unfinished, at_s, cost, left_s};
    }

  private:
    static constexpr size_t ways = 4;
    /// Of what was left at the begin: as far as rounding may differ between two ways to the same position.
    static constexpr double rounding = 1e-12;

    struct place {
        uint32_t round = 0;
        members unfinished = 0;
        double at_s = 0;
        double cost = 0;
        problem::values left_s{};
    };

    [[nodiscard]] int worth(const place& one) const { return one.round == round_ ? std::popcount(one.unfinished) : -1; }

    [[nodiscard]] bool is(const place& one, members unfinished, const problem::values& left_s, double at_s) const {
        if (one.round != round_ || one.unfinished != unfinished) return false;
        if (std::abs(one.at_s - at_s) > rounding * at_s) return false;
        for (members rest = unfinished; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            if (std::abs(one.left_s[i] - left_s[i]) > rounding * of_->left_s[i]) return false;
        }
        return true;
    }

    /// The same where rounding differs, but for a few in a million.
    [[nodiscard]] size_t place_of(members unfinished, const problem::values& left_s, double at_s) const {
        uint64_t bits = unfinished;
        const auto mix = [&](uint64_t more) {
            bits = (bits ^ more) * 0x9e3779b97f4a7c15U;
            bits ^= bits >> 29U;
        };
        mix(static_cast<uint64_t>(std::llround(std::min(at_s * scale_[0], 1e18))));
        for (members rest = unfinished; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            // Never negative, and llround() would be a call of its own.
            mix(static_cast<uint64_t>(left_s[i] * scale_[i] + 0.5));  // NOLINT(bugprone-incorrect-roundings)
        }
        return (bits >> 20U) & (used_ - ways);
    }

    const problem* of_ = nullptr;
    std::vector<place> places_;
    size_t used_ = 0;  ///< the first of them; a power of two
    uint32_t round_ = 0;
    problem::values scale_{};
};

}  // namespace halcyon::policy
