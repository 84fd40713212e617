#pragma once

#include <cstdint>
#include <vector>

#include "coordinate/coordinator/registry.hpp"
#include "coordinate/coordinator/users.hpp"
#include "policy/look_ahead.hpp"

namespace halcyon::coordinate {

/// How long those that wait will, by what the policy would decide if those in a phase need what they said and nobody
/// else began one. Who is barred is not decided about until then.
class expected_waits {
  public:
    /// `from`: see policy::look_ahead. `with`: what it decided last is lost.
    void look(const registry& all, const users& by_user, const settings& how, const policy::outlook& from,
              policy::decider& with);
    /// 0 of one that does not wait.
    [[nodiscard]] double of(uint64_t job) const;

  private:
    std::vector<uint64_t> jobs_;  ///< in a phase, in ascending order
    policy::look_ahead ahead_;    ///< of them
};

}  // namespace halcyon::coordinate
