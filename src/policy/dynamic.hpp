#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/contender.hpp"
#include "policy/exact_search.hpp"
#include "policy/problem.hpp"

namespace halcyon::policy {

/// The rule dynamic, and the costs that it forecasts for other rules.
///
/// Up to `exact` applications, expected ones included: the least cost of all schedules (exact_search). Up to
/// problem::most: the same, where settings::search_positions are enough, else the best schedule seen. More: the best
/// seen for the head of the queue by Smith's rule, as long as the others wait for it, from the best of three simple
/// rules and as many positions as head_positions() says; then those of the next `joining` join who raise the rate at
/// which cost ends, and all who share nothing with those that move. Plans that interrupt those that move now cost
/// settings::interruption_s more of all that are present; where few of a long queue move, all of these belong to its
/// head, and nobody joins those that only this cost keeps moving.
class dynamic {
  public:
    static constexpr uint32_t exact = 8;
    static constexpr uint32_t joining = 16;

    /// The head of a queue of so many, and the positions of its search: the longer the queue, the more decisions there
    /// are, and the less of the queue its head is.
    static constexpr uint32_t head_of(uint32_t count) {
        if (count <= problem::most) return count;
        return count <= 32 ? exact : count <= 64 ? 7 : 6;
    }
    static constexpr uint64_t head_positions(size_t count) { return count <= 16 ? 300 : count <= 32 ? 64 : 16; }

    static constexpr uint64_t least_positions = 16;

    /// The applications of `of` that costs are forecast of.
    void look_at(const group& of, const circumstances& in);
    void choose(const group& of, const circumstances& in, turns& into);
    /// That the last choice looked at, of settings::search_positions.
    [[nodiscard]] uint64_t positions() const { return in_head_ == queue_.size() ? best_.nodes : 0; }
    /// Of the last group looked at.
    [[nodiscard]] double cost() const { return best_.cost + spent_; }
    [[nodiscard]] double cost_of(rule other) const;

  private:
    struct candidate {
        double score = 0;
        uint32_t index = 0;  ///< of present ones, then of expected ones
    };

    [[nodiscard]] const contender& at(const group& of, uint32_t index) const;
    template <class Choose>
    [[nodiscard]] plan follow(const Choose& choose) const;
    [[nodiscard]] plan keep_moving() const;
    void pick_head(const group& of, const circumstances& in);
    void plan_head(uint64_t positions);
    void keep_unless_gain(uint64_t positions, double least_gain);
    void join_head(const group& of, const circumstances& in, turns& into);
    void join_apart(const group& of, turns& into);

    problem head_;
    speed_table speeds_;
    exact_search search_;
    plan best_;
    double spent_ = 0;       ///< cost of those looked at up to now
    bool by_smith_ = false;  ///< best_ is Smith's rule, and nothing is better
    bool spared_ = false;    ///< best_ would be another one if interruptions cost nothing
    std::vector<candidate> queue_, others_;
    uint32_t in_head_ = 0;    ///< so many of the queue
    uint32_t near_head_ = 0;  ///< so many, with those who may join it
};

}  // namespace halcyon::policy
