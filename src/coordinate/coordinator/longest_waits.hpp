#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "coordinate/coordinator/registry.hpp"
#include "policy/interference.hpp"

namespace halcyon::coordinate {

/// For how long applications have waited, each in one piece. A decision may call thousands back: those that wait are
/// looked up for all of them together.
class longest_waits {
  public:
    /// As they wait now; valid as long as these applications are there, and their targets stay.
    longest_waits(const registry& all, double now_s) {
        for (const uint64_t id : all.active()) {
            const job& one = all.jobs().at(id);
            if (!one.has.any() && one.in_phase() && one.connected()) all_.emplace_back(now_s - one.since_s, &one);
        }
        std::ranges::sort(all_, std::greater(), &std::pair<double, const job*>::first);
    }
    /// Of those that wait for one of `targets` (none: for any); 0: nobody does.
    [[nodiscard]] double at(std::span<const uint32_t> targets) const {
        const auto found = std::ranges::find_if(
            all_, [&](const auto& one) { return policy::share_targets(targets, one.second->targets); });
        return found == all_.end() ? 0 : found->first;
    }

  private:
    std::vector<std::pair<double, const job*>> all_;  ///< the longest first
};

}  // namespace halcyon::coordinate
