#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// The stored variables that programs cannot draw on their rectilinear or curvilinear mesh in a run of `ranks`
/// processes: a coordinate is not stored beside them, they are not one array (no place, several blocks), or their
/// shape, where it keeps its place, is not the mesh's. Failures: those of shape_of().
[[nodiscard]] result<std::vector<std::string>> undrawn_on_meshes(const model& m, int ranks);

/// Whether the view of a run of `ranks` processes (0: not known, several) lacks its XDMF file although variables of two
/// or three dimensions are stored: none of them has a place, or is one block on a mesh.
[[nodiscard]] bool draws_nothing(const model& m, int ranks);

}  // namespace halcyon::offload
