#pragma once

#include <climits>
#include <cstddef>

/// Paths as the kernel finds them, for who knows only what a mount's prefix says (mounted_path.hpp).
namespace halcyon::calls::backends {

/// What becomes of a link that the last name of a path is.
enum class last_link : bool { is_followed, stays };

/// The path without links, also of what is not there yet; its length, ended by 0. 0: nobody can tell, or the kernel
/// would find nothing and make nothing. `out`: room for PATH_MAX.
size_t follow_links(const char* path, last_link last, char* out);

/// Where `..` stands behind a symbolic link, what lies above the folder that this leads to takes the place of both, in
/// place; the new length. As text, `..` would take the link away. `known`: how many characters at the beginning hold no
/// links. What the kernel does not find stays as it is; `all_found`: there is nothing of that kind. `path`: room for
/// 2 * PATH_MAX.
size_t follow_parents(char* path, size_t length, size_t known, bool& all_found);

}  // namespace halcyon::calls::backends
