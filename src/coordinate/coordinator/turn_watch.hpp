#pragma once

#include "coordinate/coordinator/phases.hpp"

namespace halcyon::coordinate {

/// Takes turns from applications that move nothing or do not stop, and forgets agents that are gone. Whoever loses a
/// turn by its own fault has a strike, and waits longer for the next one.
class turn_watch {
  public:
    explicit turn_watch(const settings& how) : how_(how) {}

    /// Looks at everybody.
    void expire(registry& all, phases& of, users& by_user, moment at, outbox& out) const;
    /// Takes the turn from suspects that have moved nothing yet, where anybody else waits.
    void hurry_suspects(registry& all, phases& of, users& by_user, moment at, outbox& out) const;

  private:
    void take_away(registry& all, phases& of, job& from, const char* reason, users& by_user, moment at,
                   outbox& out) const;
    void punish(registry& all, phases& of, job& one, users& by_user, moment at, outbox& out) const;

    settings how_;
};

}  // namespace halcyon::coordinate
