#pragma once

#include <string>

#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/output_file.hpp"
#include "offload/store/hdf5/view_plan.hpp"

namespace halcyon::offload::hdf5 {

/// What the view says about itself, besides its arrays.
struct view_notes {
    std::string simulation;
    std::vector<std::string> unreadable_files;
};

/// Writes the view as HDF5 that follows netCDF-4: virtual datasets with attached dimension scales. `folder` is where
/// the sources lie; scalars without time are copied from there. Throws (system).
void write_view(const view_plan& plan, const view_notes& notes, const std::string& folder, output_file& out);

/// Reads the elements of `v` through its pieces; what no piece covers is fill.
[[nodiscard]] std::vector<std::byte> read_array(const view_variable& v, const std::string& folder);

/// A file opened for reading, without asking for a lock that shared file systems may not have.
[[nodiscard]] file_handle open_source(const std::string& path);

}  // namespace halcyon::offload::hdf5
