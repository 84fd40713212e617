#pragma once

#include <string>

#include "base/rapidjson.hpp"
#include "base/yaml/document.hpp"

namespace halcyon::yaml {

/// A rule that a value breaks.
struct broken_rule {
    const rapidjson::Value* rule = nullptr;  ///< the schema object with the keyword
    std::string keyword;                     ///< "enum", "required", …
    const node* value = nullptr;             ///< what breaks it; for an unknown key the map that holds the key
    std::string key;                         ///< the unknown key (keyword additionalProperties)
};

/// One sentence that names the value seen and what was expected.
[[nodiscard]] std::string explain(const broken_rule& broken);

}  // namespace halcyon::yaml
