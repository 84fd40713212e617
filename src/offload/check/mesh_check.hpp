#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// The variables whose rectilinear or curvilinear mesh does not fit them in a run of `ranks` processes. Only of what
/// keeps its place and is one array: it has a place, or there is one rank. Failures: those of shape_of().
[[nodiscard]] result<std::vector<std::string>> unfit_meshes(const model& m, int ranks);

}  // namespace halcyon::offload
