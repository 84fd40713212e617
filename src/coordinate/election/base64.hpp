#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace halcyon::coordinate {

/// RFC 4648, with padding: how JSON of etcd holds keys and values.
std::string to_base64(std::string_view bytes);
/// None: a character that does not belong there, or a length that no encoding has.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace halcyon::coordinate
