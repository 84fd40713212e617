#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coordinate/page/page.hpp"

/// The file `<node>.<process id>.<start of the process>.coordinate` (node_name.hpp), in which a process says at its end
/// how it took turns: since it began, whatever programs it has been. Its agent writes the file of a process that died
/// before. Safe within applications.
namespace halcyon::coordinate::process_facts {

inline constexpr size_t longest_text = 8192;

/// `host`: the host's name, of which the node's begins. False: there is no room for the path.
bool name_file(char* out, size_t room, std::string_view directory, const char* host, uint64_t owner);

/// The length of the text; 0: the process used no coordinated file system, there is nothing to tell. `file_systems`: of
/// the page, by who knows their number.
size_t describe(char* out, size_t room, const page& shared, size_t file_systems, const process_slot& slot,
                const char* ending);

}  // namespace halcyon::coordinate::process_facts
