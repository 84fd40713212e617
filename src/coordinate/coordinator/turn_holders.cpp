#include "coordinate/coordinator/turn_holders.hpp"

#include <algorithm>

namespace halcyon::coordinate {

turn_holders::turn_holders(const registry& all) {
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (!one.moves()) continue;
        const auto place = static_cast<uint32_t>(all_.size());
        all_.push_back(&one);
        if (one.targets.empty()) of_all_targets_.push_back(place);
        for (const uint32_t target : one.targets) listed_.emplace_back(target, place);
    }
    std::ranges::sort(listed_);
}

std::vector<std::string> turn_holders::at(std::span<const uint32_t> targets) const {
    std::vector<uint32_t> found;
    if (targets.empty()) {
        for (uint32_t place = 0; place < std::min(most_told, all_.size()); ++place) found.push_back(place);
    } else {
        const auto use_all = std::span(of_all_targets_).first(std::min(most_told, of_all_targets_.size()));
        found.assign(use_all.begin(), use_all.end());
        for (const uint32_t target : targets) {
            auto one = std::ranges::lower_bound(listed_, std::pair(target, uint32_t{0}));
            for (size_t n = 0; n < most_told && one != listed_.end() && one->first == target; ++n, ++one)
                found.push_back(one->second);
        }
        std::ranges::sort(found);
        const auto again = std::ranges::unique(found);
        found.erase(again.begin(), again.end());
        found.resize(std::min(found.size(), most_told));
    }
    std::vector<std::string> names;
    for (const uint32_t place : found) names.push_back(all_[place]->name);
    return names;
}

}  // namespace halcyon::coordinate
