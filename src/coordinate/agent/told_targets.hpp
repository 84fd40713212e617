#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "coordinate/page/node_state.hpp"
#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {

/// The storage targets that a phase of the node has used until now, and what the coordinator was told of them. They
/// only grow until the phase is over: at the coordinator they do so, too.
class told_targets {
  public:
    void begin() { *this = {}; }
    void look(const node_targets& now) {
        all_ = all_ || now.all;
        if (all_) return used_.clear();
        if (std::ranges::includes(used_, now.some)) return;
        std::vector<uint32_t> both;
        std::ranges::set_union(used_, now.some, std::back_inserter(both));
        used_ = std::move(both);
        if (used_.size() <= most_targets) return;
        all_ = true;
        used_.clear();
    }
    /// Beyond what was told. Nothing was at first.
    [[nodiscard]] bool grow() const { return told_ != (all_ ? all : used_.size()); }
    /// Of the phase as a whole; none: all. Where nobody has told any, all that comes is too late to be fewer.
    std::vector<uint32_t> tell() {
        all_ = all_ || used_.empty();
        told_ = all_ ? all : used_.size();
        return used_;
    }
    /// The coordinator believes that the phase uses these alone.
    [[nodiscard]] bool are_listed() const { return told_ != nothing && told_ != all; }

  private:
    static constexpr size_t nothing = 0, all = SIZE_MAX;
    bool all_ = false;
    std::vector<uint32_t> used_;  ///< in ascending order
    size_t told_ = nothing;       ///< so many of them
};

}  // namespace halcyon::coordinate
