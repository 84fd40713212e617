#pragma once

#include <string>

namespace halcyon::offload {

/// "; known: a, b, c" of the names in `list` (anything with .name), at most 20 of them.
template <class List>
std::string known_names(const List& list) {
    if (list.empty()) return "; there are none";
    std::string text = "; known: ";
    int count = 0;
    for (const auto& item : list) {
        if (++count > 20) return text + ", …";
        if (count > 1) text += ", ";
        text += item.name;
    }
    return text;
}

}  // namespace halcyon::offload
