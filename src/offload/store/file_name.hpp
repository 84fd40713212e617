#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halcyon::offload {

/// Name of the writer of a node's server ("n0003"), and of a client that stores by itself ("c00012").
std::string node_writer(int node);
std::string client_writer(int rank);

/// The writer of data files that all servers write together.
inline constexpr const char* all_servers = "all";

/// The name of a data file: `<simulation>.<writer>.i00000005<ending>`, `….p01<ending>` for part 1. `ending` is that of
/// the store module (store_traits::ending). Unpublished parts begin with a '.'.
[[nodiscard]] std::string file_name(const std::string& simulation, const std::string& writer, int64_t first_iteration,
                                    int32_t part, std::string_view ending);

/// What a data file's name says: the opposite of file_name().
struct file_name_parts {
    std::string writer;
    int64_t first_iteration = 0;
    int32_t part = 0;
};
/// Nothing when `name` is not the name of a data file of `simulation` with this ending, or begins with a '.'.
[[nodiscard]] std::optional<file_name_parts> parse_file_name(const std::string& name, const std::string& simulation,
                                                             std::string_view ending);

}  // namespace halcyon::offload
