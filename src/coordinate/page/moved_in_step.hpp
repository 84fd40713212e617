#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coordinate/page/page.hpp"
#include "coordinate/page/process_life.hpp"

namespace halcyon::coordinate {

/// Bytes that processes have moved since they took a turn by themselves, where no layer counts them: by the system's
/// account, which the agent looks at now and then. A coordinator takes the turn from an application that moves nothing,
/// and a program says what it moved only when it gives the turn back.
class moved_in_step {
  public:
    /// `number`: of the slot.
    int64_t of(uint32_t number, const process_slot& slot, size_t file_system, int64_t now_ns) {
        constexpr auto relaxed = std::memory_order_relaxed;
        const program_turns::part& taken = slot.by_itself.at[file_system];
        if (taken.held.load(relaxed) == 0 || slot.by_itself.layer.load(relaxed) != 0) return 0;
        if (looks_.size() <= number) looks_.resize(number + 1);
        look& last = looks_[number];
        const uint64_t owner = slot.owner.load(relaxed);
        if (last.owner != owner || now_ns - last.at_ns >= between_looks_ns)
            last = {owner, now_ns, bytes_of_process(process_slot::pid_of(owner))};
        const int64_t from = taken.counted_from.load(relaxed);
        return from < 0 || last.bytes < 0 ? 0 : std::max<int64_t>(last.bytes - from, 0);
    }

  private:
    static constexpr int64_t between_looks_ns = 50'000'000;
    struct look {
        uint64_t owner = 0;
        int64_t at_ns = 0;
        int64_t bytes = -1;
    };
    std::vector<look> looks_;
};

}  // namespace halcyon::coordinate
