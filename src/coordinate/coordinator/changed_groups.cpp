#include "coordinate/coordinator/changed_groups.hpp"

#include <algorithm>
#include <utility>

namespace halcyon::coordinate {

void changed_groups::collect(std::span<const policy::application> seen) {
    targets_.clear();
    members_.clear();
    for (const policy::application& one : seen) {
        if (!policy::present(one)) continue;
        targets_.add(one.targets);
        members_.push_back({0, &one});
    }
    for (uint32_t i = 0; i < members_.size(); ++i) members_[i].group = targets_.group_of(i);
    std::ranges::sort(members_, {}, [](const member& one) { return std::pair(one.group, one.of->id); });
}

void changed_groups::rank(std::span<const uint64_t> granted, std::span<const uint64_t> recalled) {
    changes_.clear();
    for (const uint64_t id : granted) changes_.push_back({id, changes_.size()});
    for (const uint64_t id : recalled) changes_.push_back({id, changes_.size()});
    std::ranges::sort(changes_, {}, &change::id);
    for (member& one : members_) {
        const auto at = std::ranges::lower_bound(changes_, one.of->id, {}, &change::id);
        if (at == changes_.end() || at->id != one.of->id) continue;
        one.rank = at->rank;
        one.moves = one.rank < granted.size();
    }
}

std::span<const changed_groups::group> changed_groups::find(std::span<const policy::application> seen,
                                                            std::span<const uint64_t> granted,
                                                            std::span<const uint64_t> recalled) {
    collect(seen);
    rank(granted, recalled);
    found_.clear();
    for (size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
        group one;
        one.first_id = members_[begin].of->id;
        for (; end < members_.size() && members_[end].group == members_[begin].group; ++end)
            one.rank = std::min(one.rank, members_[end].rank);
        if (one.rank == unchanged) continue;
        one.members = std::span(members_).subspan(begin, end - begin);
        std::ranges::sort(one.members, {},
                          [](const member& each) { return std::pair(each.rank == unchanged, each.of->arrived_s); });
        found_.push_back(one);
    }
    std::ranges::sort(found_, {}, &group::rank);
    return found_;
}

}  // namespace halcyon::coordinate
