#pragma once

namespace halcyon::offload::hdf5 {

/// The number under which Zstandard is registered with the HDF Group; readers' plugins listen to it.
inline constexpr int zstd_filter_id = 32015;

/// Lets this process's HDF5 read (and write) chunks compressed with Zstandard, without an outside plugin. The view
/// reads coordinates with it. Throws (system).
void register_zstd_filter();

}  // namespace halcyon::offload::hdf5
