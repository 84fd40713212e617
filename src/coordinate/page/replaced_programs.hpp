#pragma once

#include <cstdint>
#include <vector>

#include "coordinate/page/page.hpp"
#include "coordinate/page/process_life.hpp"

namespace halcyon::coordinate {

/// Processes that have become another program (exec) while their threads were in calls or waited for a turn. The page
/// still says that they are, and nobody counts them out until the new program makes a call that Halcyon sees, which it
/// may never do. The agent sees that the process runs another program than the one that counts in its place.
class replaced_programs {
  public:
    /// The process of the place `number` is looked at.
    void look(uint32_t number, const process_slot& slot, const process_life& now) {
        const uint64_t noted = slot.by_itself.program.load(std::memory_order_acquire);
        const bool differs = noted != 0 && now.program != 0 && noted != now.program;
        if (!differs && number >= gone_.size()) return;
        if (gone_.size() <= number) gone_.resize(number + 1);
        gone_[number] = differs ? program{slot.owner.load(std::memory_order_relaxed), noted} : program{};
    }
    /// Whether the program is gone that counts in this place. Not any more once the next one does.
    [[nodiscard]] bool contains(uint32_t number, const process_slot& slot) const {
        return number < gone_.size() && gone_[number].owner != 0 &&
               gone_[number].owner == slot.owner.load(std::memory_order_relaxed) &&
               gone_[number].noted == slot.by_itself.program.load(std::memory_order_acquire);
    }

  private:
    struct program {
        uint64_t owner = 0, noted = 0;
    };
    std::vector<program> gone_;  ///< by place
};

}  // namespace halcyon::coordinate
