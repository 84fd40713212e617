#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contents.hpp"

namespace halcyon::offload::testing {

/// Reads a folder of the Zarr store by the Zarr v3 core specification, with nothing of the store's own code. Throws
/// std::runtime_error for what the specification does not know.
contents read_zarr(const std::string& path);

/// An array of a Zarr hierarchy: shape, and elements in C order as they are stored.
struct zarr_array {
    std::string data_type;
    std::vector<int64_t> shape, chunk;
    std::vector<std::string> dimension_names;
    std::vector<std::byte> bytes;
};
zarr_array read_zarr_array(const std::string& path);

/// The text of `attributes` in zarr.json of a node, as compact JSON; "" when it has no such attribute.
std::string zarr_attribute(const std::string& node, const std::string& name);

}  // namespace halcyon::offload::testing
