#pragma once

#include <string>
#include <string_view>

#include "offload/store/store_traits.hpp"

/// Names in Halcyon's Zarr folders; docs/zarr.md describes them for readers.
namespace halcyon::offload::zarr {

inline constexpr store_traits traits{.ending = ".zarr", .is_folder = true, .view_endings = {}, .is_collective = false};

/// Describes the group or array of its folder, by the Zarr v3 core specification.
inline constexpr const char* metadata_name = "zarr.json";

/// The path of a variable's group: its name, whose components become folders. What the specification does not allow as
/// the name of a node is percent-encoded: the '.' or '_' at the front of names that are dots only or begin with "__",
/// and the 'z' of "zarr.json", which is taken; so is each '%', so that decoding is unambiguous.
[[nodiscard]] std::string node_path(std::string_view variable);

}  // namespace halcyon::offload::zarr
