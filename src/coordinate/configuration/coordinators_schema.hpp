#pragma once

#include <string_view>

namespace halcyon::coordinate {

/// The JSON Schema of coordinators.yaml: schema/coordinators.schema.json as it was when the program was built.
[[nodiscard]] std::string_view coordinators_schema();

}  // namespace halcyon::coordinate
