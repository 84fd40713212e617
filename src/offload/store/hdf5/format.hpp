#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/store/store_traits.hpp"

/// Names in Halcyon's HDF5 files; docs/store.md describes them for readers. Writer and view both use these.
namespace halcyon::offload::hdf5 {

inline constexpr store_traits traits{
    .ending = ".h5", .is_folder = false, .view_endings = {".h5", ".xmf"}, .is_collective = true};

inline constexpr const char* format_name = "halcyon";
inline constexpr const char* view_format_name = "halcyon view";
inline constexpr int64_t format_version = 1;

/// Everything that is not a variable lies in this group; no variable's name may begin with it.
inline constexpr const char* reserved_group = reserved_name;
inline constexpr const char* iterations_path = "/.halcyon/iterations";
inline constexpr const char* missing_path = "/.halcyon/missing";
inline constexpr const char* missing_variables_path = "/.halcyon/missing_variables";
inline constexpr const char* meshes_path = "/.halcyon/meshes";

/// Of a dataset that shows a whole: some of its elements are fill, because their blocks are missing.
inline constexpr const char* gaps_attribute = "gaps";

/// Name of the dataset of a domain: "d000003"; "d000003.1" when the block's shape or place changed inside the file. Of
/// shared_dataset::whole: "whole", "whole.1".
[[nodiscard]] std::string domain_name(int64_t domain, int variant);

/// Success when `name` can be a path of groups: valid UTF-8, '/' between components, none of them empty, "." or "..",
/// the first one not ".halcyon".
[[nodiscard]] result<void> check_name(const std::string& name);

}  // namespace halcyon::offload::hdf5
