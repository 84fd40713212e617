#pragma once

#include <string>

#include "offload/store/hdf5/view_plan.hpp"

namespace halcyon::offload::hdf5 {

/// The text of an XDMF 3 file over the view `view_name` (a file name without folder): per time step one grid for each
/// rectilinear or curvilinear mesh, and one of unit cells for each shape of two or three dimensions without mesh.
/// Variables on other meshes are not in it. "" when it would describe nothing.
[[nodiscard]] std::string xdmf_text(const view_plan& plan, const std::string& simulation, const std::string& view_name);

}  // namespace halcyon::offload::hdf5
