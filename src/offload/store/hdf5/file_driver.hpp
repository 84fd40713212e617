#pragma once

#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/output_file.hpp"

namespace halcyon::offload::hdf5 {

/// Creates an HDF5 file whose bytes go to `out`, which must outlive the handle. No time stamps, the newest object
/// formats that HDF5 1.10 reads, room for about `metadata_bytes` of metadata in one place.
[[nodiscard]] file_handle create_file(output_file& out, const std::string& name, size_t metadata_bytes);

}  // namespace halcyon::offload::hdf5
