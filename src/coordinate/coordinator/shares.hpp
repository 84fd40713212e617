#pragma once

#include "coordinate/coordinator/job.hpp"
#include "policy/decide.hpp"

namespace halcyon::coordinate {

/// What accounts and sets had of the storage lately, for fair-share and set-10.
class shares {
  public:
    /// The turn of an application counts up to now. To be called before a turn ends.
    void charge(job& with_turn, double now_s) {
        if (!with_turn.moves()) return;
        const double turn_s = now_s - with_turn.charged_s;
        with_turn.charged_s = now_s;
        if (!(turn_s > 0)) return;
        policy::application as;
        with_turn.describe(as, now_s);
        accounts_.charge(with_turn.account_key, turn_s, now_s);
        sets_.charge(policy::set_of(as), turn_s, now_s);
    }
    [[nodiscard]] const policy::ledger& accounts() const { return accounts_; }
    [[nodiscard]] const policy::ledger& sets() const { return sets_; }

  private:
    policy::ledger accounts_;
    policy::ledger sets_;
};

}  // namespace halcyon::coordinate
