#pragma once

#include <vector>

#include "coordinate/coordinator/expected_waits.hpp"
#include "coordinate/coordinator/interruption_time.hpp"
#include "coordinate/coordinator/phases.hpp"
#include "coordinate/coordinator/search_budget.hpp"
#include "coordinate/coordinator/turn_watch.hpp"
#include "policy/decide.hpp"

namespace halcyon::coordinate {

/// Decides by the policy who has the turn, and brings that about: a turn is given only when all those that are in the
/// way have stopped.
class arbiter {
  public:
    explicit arbiter(const settings& how) : how_(how), searches_(how.search_positions_per_s) {}

    /// Decides if anything has changed, or a decision is due.
    void decide(registry& all, phases& of, const turn_watch& watch, users& by_user, moment at, outbox& out);
    /// Tells those that wait how long it may take: all of them, or those that have not been told, without a look ahead
    /// at decisions, which would take as long as these.
    void tell_waits(registry& all, const phases& of, const users& by_user, bool all_of_them, moment at, outbox& out);
    /// How long those that wait will, as it is known now.
    [[nodiscard]] expected_waits waits(const registry& all, const phases& of, const users& by_user, double now_s) const;
    [[nodiscard]] double decide_at_s() const { return decide_at_s_; }
    /// As decisions take it.
    [[nodiscard]] double interruption_s() const { return interruption_.or_at_least(how_.bounds.interruption_s); }

  private:
    /// Nothing of a decision outlives it, so a copy has one of its own.
    struct own_decider {
        policy::decider asked;
        own_decider() = default;
        own_decider(const own_decider&) {}
        own_decider& operator=(const own_decider&) { return *this; }
        own_decider(own_decider&&) noexcept = default;
        own_decider& operator=(own_decider&&) noexcept = default;
        ~own_decider() = default;
    };

    bool see(const registry& all, const users& by_user, bool barred_ones, double now_s);
    void carry_out(registry& all, phases& of, const policy::decision& what, moment at, outbox& out);
    [[nodiscard]] bool in_the_way(const registry& all, const job& of, const std::vector<uint64_t>& may_move) const;
    void care_for_standing(registry& all, phases& of, moment at, outbox& out);
    void log(const registry& all, phases& of, const policy::decision& what, double now_s);
    [[nodiscard]] const policy::application* seen(uint64_t id) const;
    [[nodiscard]] policy::outlook outlook(const phases& of, size_t applications, double now_s) const;

    settings how_;
    own_decider decider_;
    std::vector<policy::application> seen_;  ///< by id
    std::vector<uint64_t> may_move_;         ///< of the latest decision, sorted
    std::vector<uint64_t> granted_;
    std::vector<uint64_t> recalled_;
    expected_waits waits_;
    interruption_time interruption_;
    search_budget searches_;
    double decide_at_s_ = 0;
};

}  // namespace halcyon::coordinate
