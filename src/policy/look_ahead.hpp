#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/contender.hpp"
#include "policy/decide.hpp"
#include "policy/groups.hpp"
#include "policy/problem.hpp"

namespace halcyon::policy {

/// What a look ahead begins with.
struct outlook {
    situation storage;  ///< without applications: those that were added take their place
    rule by = rule::dynamic;
    metric minimise = metric::sum_of_times;
    settings how;
    double now_s = 0;
    std::span<const uint64_t> move;  ///< decided last: these may move from now on
    double until_s = 0;              ///< likewise: it is decided again at this time at the latest
    size_t applications = 0;         ///< of all decisions of the look together, at most
};

/// When applications that wait will have their turns, if the rule decides as it does now, no further phase begins, and
/// all are as fast as forecast. Decides at each end, and whenever a decision asks for the next one, as often as it may.
/// Those that have had no turn by then are taken to follow one after the other, in the order that the rule prefers.
///
/// Of more than problem::most that move together and share storage, each has an equal part. Does not allocate once its
/// memory fits.
class look_ahead {
  public:
    void clear();
    /// One that is present, to be filled in before the next one is added. Up to `from_s` no decision is about it unless
    /// it may move already.
    application& add(double from_s);
    /// Of those added since clear(). `with`: what it decided last is lost.
    void look(const outlook& from, decider& with);
    /// Of the i-th that was added: seconds from now to its turn; 0: it moves, or may.
    [[nodiscard]] double turn_in_s(size_t i) const { return turn_s_[i]; }

  private:
    struct mover {
        uint32_t group = 0;
        uint32_t index = 0;
        double speed = 1;
    };
    struct follower {
        double preference = 0;  ///< the least first
        double arrived_s = 0;
        uint32_t index = 0;
    };
    static constexpr double not_known = -1;
    /// Of a decision: there are many, and none is carried out.
    static constexpr uint64_t search_positions = 64;

    void start();
    void decide_on(decider& with);
    [[nodiscard]] std::span<application> all() { return std::span(all_).first(from_s_.size()); }
    [[nodiscard]] bool is_still_to_come(size_t i) const { return turn_s_[i] == not_known && !present(all_[i]); }
    [[nodiscard]] bool divides_time() const { return from_->by == rule::fair_share || from_->by == rule::set_10; }
    void let_move(std::span<const uint64_t> ids);
    void go(double until_s, bool anybody_is_here);
    void find_speeds();
    void queue_up();
    [[nodiscard]] double preference(const application& one, const circumstances& in) const;
    [[nodiscard]] double turn_lasts_s(const application& one) const;

    const outlook* from_ = nullptr;  ///< during a look
    settings how_;
    double begin_s_ = 0;
    double now_s_ = 0;
    std::vector<application> all_;  ///< those that have ended or are still to come are computing; more: memory
    std::vector<double> from_s_;
    std::vector<double> turn_s_;
    ledger accounts_, sets_;  ///< as they will be, where the rule divides time
    std::vector<uint64_t> move_;
    std::vector<mover> movers_;
    std::vector<follower> followers_;
    std::vector<double> before_s_;  ///< by group of followers
    target_groups targets_;
    problem side_by_side_;
};

}  // namespace halcyon::policy
