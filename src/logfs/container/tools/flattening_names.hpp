#pragma once

#include <string_view>

namespace halcyon::logfs {

/// For hidden_name(): the file that is to take a container's place.
inline constexpr std::string_view flattened = "flattened";
// Of what stands beside the file where names cannot be exchanged: the container, and the name of both.
inline constexpr const char* aside_suffix = ".container";
inline constexpr const char* name_suffix = ".name";

}  // namespace halcyon::logfs
