#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "offload/store/contents/description.hpp"
#include "offload/store/contents/encoding.hpp"

namespace halcyon::offload::zarr {

/// The contents of zarr.json of a group.
[[nodiscard]] std::string group_metadata(const attribute_list& attributes);
/// Of the group with Halcyon's own tables: the meshes are a list in its attributes.
[[nodiscard]] std::string group_metadata(const std::vector<mesh>& meshes);

/// An array: as a Zarr reader needs to know it.
struct array_description {
    std::vector<uint64_t> shape, chunk;
    std::vector<std::string> dimension_names;  ///< one for each dimension
    encoding how;                              ///< of its chunks
    attribute_list attributes;
};
/// The contents of zarr.json of an array.
[[nodiscard]] std::string array_metadata(const array_description& array);

/// The name of the file of the chunk at `origin`, an element's place: "c.0.2".
[[nodiscard]] std::string chunk_name(const std::vector<uint64_t>& origin, const std::vector<uint64_t>& chunk);

}  // namespace halcyon::offload::zarr
