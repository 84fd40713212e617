#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coordinate/coordinator/registry.hpp"

namespace halcyon::coordinate {

/// Who has the turn at which storage, for people who wait. Thousands may have one, and thousands wait: they are found
/// by targets, not by pairs.
class turn_holders {
  public:
    static constexpr size_t most_told = 8;

    /// As they are now; valid as long as these applications are there.
    explicit turn_holders(const registry& all);
    /// Names of those that share storage with an application that uses `targets` (none: all), the first by number.
    [[nodiscard]] std::vector<std::string> at(std::span<const uint32_t> targets) const;

  private:
    std::vector<const job*> all_;                        ///< in a phase, with a turn; by number
    std::vector<uint32_t> of_all_targets_;               ///< places in `all_`
    std::vector<std::pair<uint32_t, uint32_t>> listed_;  ///< a target, and a place in `all_`; in ascending order
};

}  // namespace halcyon::coordinate
