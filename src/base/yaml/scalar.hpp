#pragma once

#include <string>
#include <string_view>

#include "base/yaml/document.hpp"

namespace halcyon::yaml {

/// The node of a scalar with `tag` ("?" plain, "!" quoted, or an explicit one) by the YAML 1.2 core schema (chapter
/// 10.3.2), without its line. Failure: the message alone, without a place.
[[nodiscard]] result<node> resolve_scalar(std::string_view tag, std::string text);

}  // namespace halcyon::yaml
