#pragma once

#include <string_view>

#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Usage failure: not finite, or outside the bounds of a mutable parameter.
[[nodiscard]] result<void> check_parameter_value(const parameter& p, double value);

/// Usage failure that lists the known parameters.
[[nodiscard]] failure unknown_parameter(const model& m, std::string_view name);

}  // namespace halcyon::offload
