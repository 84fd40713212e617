#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/inner_names.hpp"

/// Host directories of a container that lie in other directories (backends), perhaps on other file systems: there
/// `<backend>/.halcyon-hostdir-<container>.<number>` is the directory, and `hostdir.<number>` in the container a link
/// to it. So whoever finds the container finds all of it, wherever the container is moved.
namespace halcyon::logfs {

/// In the container, while such a directory is made: a link to it, by which it is removed with the container, should
/// its maker be killed.
inline constexpr std::string_view begun_link_prefix = "begun.";

/// The backend for a host directory, of a list apart by colons. "": the list is empty.
std::string_view backend_of(std::string_view list, uint32_t host_directory);

/// Makes a host directory there, and the link. 0: it is there, whoever made it. -errno: there is neither.
int make_other_directory(container& in, uint32_t number, std::string_view backend, mode_t mode);

/// Removes what a container has in other backends, before the container itself is removed. What cannot be removed, and
/// what belongs to another container, stays.
void remove_other_directories(file_calls& calls, int container, uint64_t id);

}  // namespace halcyon::logfs
