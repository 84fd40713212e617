#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace halcyon::coordinate {

/// Whether a count of this name (counts.hpp, daemon_counts.hpp) is of things that should not happen.
constexpr bool is_fault(std::string_view name) {
    constexpr std::array<std::string_view, 8> beginnings{"refused_", "dropped_", "unasked_", "lost_",
                                                         "silent_",  "stalled_", "overdue_", "closed_"};
    return name == "own_pauses" ||
           std::ranges::any_of(beginnings, [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace halcyon::coordinate
