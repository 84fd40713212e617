#pragma once

#include "coordinate/coordinator/outbox.hpp"
#include "coordinate/coordinator/settings.hpp"
#include "coordinate/fencing/fences.hpp"

namespace halcyon::coordinate {

/// Gives and takes turns: every message about a lease is sent here, and every fencing number is taken here.
class turn_keeper {
  public:
    turn_keeper(const settings& how, uint64_t epoch);

    /// To all agents of the application that are in a phase.
    void grant(job& to, double now_s, double heard_s, outbox& out);
    /// More bytes for one agent.
    void renew(job& of, agent& one, outbox& out);
    /// To all agents that have no lease.
    void offer_standing(job& to, outbox& out);
    /// A phase has begun under the standing lease.
    void hold_standing(job& of, double now_s, double heard_s);
    /// An agent has shown a lease of a coordinator before this one.
    void take_over(job& of, uint64_t lease, double now_s, double heard_s);

    /// `waited_s`: for so long somebody has waited for its storage.
    void recall(job& from, double waited_s, double heard_s, outbox& out);
    /// The last phase is over. The turn ends, unless an agent may begin another phase under it: then it stands.
    static void rest(job& of);
    /// After an answer, or when an agent is gone: sends `stop`, or ends the turn. True: it has ended.
    bool proceed(job& from, outbox& out);
    /// What an agent has missed that is new or came back.
    void repeat(job& of, agent& to, outbox& out);
    /// How many others move, if that has changed.
    static void tell_others(job& of, outbox& out);
    /// That the phase is none of the only application any more: so many others are registered.
    static void tell_registered(job& of, size_t others, outbox& out);
    /// Ends the turn with the phases of all agents that have the lease: these must be informed anew.
    void void_lease(job& of, const char* reason, outbox& out);

    [[nodiscard]] const fences& numbers() const { return fences_; }

  private:
    [[nodiscard]] int64_t lease_bytes(const agent& one) const;
    void tell_standing(job& of, agent& to, outbox& out);
    static void end(job& of);

    settings how_;
    fences fences_;
};

}  // namespace halcyon::coordinate
