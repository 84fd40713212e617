#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Where the blocks of a run of `ranks` processes overlap or leave elements of their whole uncovered: one message for
/// each place and layout, which names the variables. Only of variables that keep their place (see keeps_place()).
/// Equal boxes of several blocks are no overlap: processes may share a coordinate. Failures: those of shape_of().
[[nodiscard]] result<std::vector<std::string>> uneven_wholes(const model& m, int ranks);

}  // namespace halcyon::offload
