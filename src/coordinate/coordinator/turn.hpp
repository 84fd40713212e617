#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinate/coordinator/snapshot.hpp"

namespace halcyon::coordinate {

/// The turn of one application, and how it is taken back: `recall` asks every agent for the highest round that any of
/// its writers has begun, `stop` names the round above all of them, and when every node has stopped the turn is over.
/// No writer of a collective stops in another round than its peers.
class turn {
  public:
    [[nodiscard]] turn_stage stage() const { return stage_; }
    [[nodiscard]] bool any() const { return stage_ != turn_stage::none; }
    /// `recalled` or `stopping`.
    [[nodiscard]] bool ending() const { return stage_ >= turn_stage::recalled; }
    [[nodiscard]] uint64_t lease() const { return lease_; }

    /// Held or standing. `lease`: a number never used before, or the one that an agent showed.
    void begin(turn_stage as, uint64_t lease);
    /// A phase began under a standing lease.
    void hold();
    /// No phase goes on under it any more; the lease may still be used.
    void stand();
    /// `agents`: in ascending order. `excused_until_s`: no call under way is a reason to wait for it any longer.
    void recall(const std::vector<uint64_t>& agents, double overdue_at_s, double excused_until_s);
    /// False: nobody asked, or it answered already.
    bool answered(uint64_t agent, uint64_t round);
    /// May come instead of an answer. False as above.
    bool stopped(uint64_t agent);
    /// Will not answer any more.
    void gone(uint64_t agent);

    [[nodiscard]] bool waits_for(uint64_t agent) const;
    [[nodiscard]] bool all_answered() const { return told_ == answers_.size(); }
    [[nodiscard]] bool all_stopped() const { return stopped_ == answers_.size(); }
    [[nodiscard]] double overdue_at_s() const { return overdue_at_s_; }
    [[nodiscard]] double excused_until_s() const { return excused_until_s_; }
    /// All have answered: returns the round to stop before.
    uint64_t stop();
    /// The same, once more.
    [[nodiscard]] uint64_t round() const { return highest_round_ + 1; }
    void end() { *this = turn(); }

  private:
    friend struct coordinator_digest;  ///< of a test
    struct answer {
        uint64_t agent = 0;
        bool told = false;
        bool stopped = false;
    };
    [[nodiscard]] std::vector<answer>::const_iterator find(uint64_t agent) const;
    answer* of(uint64_t agent);

    turn_stage stage_ = turn_stage::none;
    uint64_t lease_ = 0;
    uint64_t highest_round_ = 0;
    double overdue_at_s_ = 0;
    double excused_until_s_ = 0;
    std::vector<answer> answers_;  ///< by agent: of thousands, each answers
    size_t told_ = 0;              ///< of them
    size_t stopped_ = 0;           ///< likewise
};

}  // namespace halcyon::coordinate
