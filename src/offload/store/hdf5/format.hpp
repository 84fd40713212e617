#pragma once

#include "offload/store/contents/names.hpp"
#include "offload/store/store_traits.hpp"

/// Names in Halcyon's HDF5 files; docs/store.md describes them for readers. Writer and view both use these.
namespace halcyon::offload::hdf5 {

inline constexpr store_traits traits{
    .ending = ".h5", .is_folder = false, .view_endings = {".h5", ".xmf"}, .is_collective = true};

inline constexpr const char* view_format_name = "halcyon view";
inline constexpr const char* iterations_path = "/.halcyon/iterations";
inline constexpr const char* missing_path = "/.halcyon/missing";
inline constexpr const char* missing_variables_path = "/.halcyon/missing_variables";
inline constexpr const char* meshes_path = "/.halcyon/meshes";

/// Of a dataset that shows a whole: some of its elements are fill, because their blocks are missing.
inline constexpr const char* gaps_attribute = "gaps";

}  // namespace halcyon::offload::hdf5
