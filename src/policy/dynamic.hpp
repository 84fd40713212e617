#pragma once

#include <cstdint>
#include <vector>

#include "policy/contender.hpp"
#include "policy/exact_search.hpp"
#include "policy/problem.hpp"

namespace halcyon::policy {

/// The rule dynamic, and the costs that it forecasts for other rules.
///
/// Up to `exact` applications, expected ones included: the least cost of all schedules (exact_search). More: the same
/// for the head of the queue by Smith's rule, as long as the others wait for it, from the best of three simple rules
/// and `head_positions` positions on; then those of the others join who raise the rate at which cost ends.
class dynamic {
  public:
    static constexpr uint32_t exact = 8;
    static constexpr uint64_t head_positions = 48;

    /// The applications of `of` that costs are forecast of.
    void look_at(const group& of, const circumstances& in);
    void choose(const group& of, const circumstances& in, turns& into);
    /// Of the last group looked at.
    [[nodiscard]] double cost() const { return best_.cost + spent_; }
    [[nodiscard]] double cost_of(rule other) const;

  private:
    struct candidate {
        double score = 0;
        uint32_t index = 0;  ///< of present ones, then of expected ones
    };

    [[nodiscard]] const contender& at(const group& of, uint32_t index) const;
    void pick_head(const group& of);
    void plan_head(uint64_t positions);
    void join_head(const group& of, const circumstances& in, turns& into);

    problem head_;
    speed_table speeds_;
    exact_search search_;
    plan best_;
    double spent_ = 0;  ///< cost of those looked at up to now
    std::vector<candidate> queue_;
    uint32_t in_head_ = 0;  ///< so many of the queue
};

}  // namespace halcyon::policy
