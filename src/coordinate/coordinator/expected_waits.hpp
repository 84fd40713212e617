#pragma once

#include <cstdint>
#include <vector>

#include "coordinate/coordinator/registry.hpp"
#include "coordinate/coordinator/users.hpp"
#include "policy/groups.hpp"

namespace halcyon::coordinate {

/// How long those that wait will, if those before them need what they said, and at most what nobody waits longer than
/// but those that are barred and have proven nothing.
/// Looks at every phase once: those that share storage over others count as sharing it.
class expected_waits {
  public:
    void look(const registry& all, const users& by_user, double starvation_s, double now_s);
    /// 0 of one that does not wait.
    [[nodiscard]] double of(uint64_t job) const;

  private:
    struct wait {
        uint64_t job = 0;
        double expected_s = 0;
    };
    std::vector<wait> waits_;  ///< by number of the job

    // Of one look; kept for their memory.
    std::vector<const job*> present_;
    policy::target_groups groups_;
    std::vector<double> before_s_;  ///< by group
};

}  // namespace halcyon::coordinate
