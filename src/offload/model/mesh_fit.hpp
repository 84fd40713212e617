#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace halcyon::offload {

/// Where the values of an array lie on a rectilinear or curvilinear mesh.
enum class mesh_fit : uint8_t { nodes, cells, none };

/// Compares the shape of an array with the nodes of a mesh, slowest dimension first: as many values as nodes in every
/// dimension, or one less in every dimension.
[[nodiscard]] mesh_fit fit_of(std::span<const int64_t> shape, std::span<const int64_t> nodes);

/// What is said of a variable whose mesh does not fit it.
[[nodiscard]] std::string describe_misfit(const std::string& variable, std::span<const int64_t> shape,
                                          const std::string& mesh, std::span<const int64_t> nodes);

/// What is said of a variable on a mesh when its ranks' blocks are not one array.
[[nodiscard]] std::string describe_scattered(const std::string& variable, const std::string& mesh);

/// What is said of a variable whose mesh has a coordinate that is not stored beside it.
[[nodiscard]] std::string describe_lost_coordinate(const std::string& variable, const std::string& mesh,
                                                   const std::string& coordinate);

}  // namespace halcyon::offload
