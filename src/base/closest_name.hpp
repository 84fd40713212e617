#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

/// The candidate with the fewest insertions, deletions, replacements and swaps of neighbours away from `name`, if that
/// is close enough to be a slip of the keyboard (a third of the name's length, at least 1). Case does not count.
std::optional<std::string> closest_name(std::string_view name, std::span<const std::string> candidates);

/// `grid, surface`; sorted, shortened to the first 24 with the number of the others; `none` when empty.
std::string list_names(std::vector<std::string> names);

/// `text` made safe for one line of a message: control characters as \n or \x07, more than 80 bytes cut with `…`.
std::string printable(std::string_view text);

}  // namespace halcyon
