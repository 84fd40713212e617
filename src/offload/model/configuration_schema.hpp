#pragma once

#include <string_view>

namespace halcyon::offload {

/// The JSON Schema of halcyon.yaml: schema/halcyon.schema.json as it was when the library was built.
[[nodiscard]] std::string_view configuration_schema();

}  // namespace halcyon::offload
