#pragma once

#include <string>

#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Of a configuration without stores: that its output is not kept, and of how many variables; "" where there are stores
/// or no variables. A configuration may mean it: its plugins see the blocks.
[[nodiscard]] std::string unstored_warning(const model& m);

}  // namespace halcyon::offload
