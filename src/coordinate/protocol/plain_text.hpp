#pragma once

#include <string>
#include <string_view>

namespace halcyon::coordinate {

/// UTF-8 without control characters: harmless on a terminal, in a log, and in a label of a metric.
bool is_plain_text(std::string_view text);

/// The begin of plain text, at most `longest` bytes, without a part of a character at its end.
std::string_view begin_of(std::string_view text, size_t longest);

/// The begin of any bytes as plain text, at most `longest` bytes; what is no ASCII character becomes '?'.
std::string excerpt(std::string_view text, size_t longest = 48);

}  // namespace halcyon::coordinate
