#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace halcyon::yaml {

struct bad_text {
    int line = 1;
    std::string message;
};

/// The first byte that is not UTF-8, or a control character other than tab, line feed and carriage return.
[[nodiscard]] std::optional<bad_text> find_bad_text(std::string_view text);

/// The first line (from 1) that has a tab before its first other character.
[[nodiscard]] std::optional<int> find_tab_in_indentation(std::string_view text);

}  // namespace halcyon::yaml
