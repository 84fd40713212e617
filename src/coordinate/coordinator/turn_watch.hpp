#pragma once

#include <optional>

#include "coordinate/coordinator/phases.hpp"
#include "policy/groups.hpp"

namespace halcyon::coordinate {

/// Takes turns from applications that move nothing or do not stop while others wait, and forgets agents that are gone.
/// Whoever loses a turn by its own fault has a penalty, and waits longer for the next one.
///
/// A call under way moves, but its bytes are told when it begins, and a sync has none. So an application that tells of
/// calls under way has more time, as their bytes need at its mean speed, and no penalty if it has moved bytes before:
/// once, until it moves more. A call that never returns would else cost others their patience again and again. That can
/// be a lie, but the bytes that are told can be as well: nothing is gained by it.
class turn_watch {
  public:
    explicit turn_watch(const settings& how) : how_(how) {}

    /// Looks at everybody.
    void expire(registry& all, phases& of, users& by_user, moment at, outbox& out) const;
    /// Takes the turn from applications on probation that have moved nothing yet, where anybody else waits for their
    /// storage. Not under a call of one that has moved bytes in a turn before.
    void take_unused_turns(registry& all, phases& of, users& by_user, moment at, outbox& out) const;

  private:
    void take_away(registry& all, phases& of, job& from, const char* reason, users& by_user, moment at,
                   outbox& out) const;
    [[nodiscard]] double busy_heard_s(const job& one) const;
    /// Of those that wait; none: somebody who lost a turn may be one more.
    using wanted_targets = std::optional<policy::target_groups>;
    void punish(registry& all, phases& of, job& one, wanted_targets& wanted, users& by_user, moment at,
                outbox& out) const;

    settings how_;
};

}  // namespace halcyon::coordinate
