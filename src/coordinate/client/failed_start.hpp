#pragma once

#include <cstddef>

namespace halcyon::coordinate::page_access {

struct settings;

/// What a job knows of an agent that could not be started on this node, so that no further process waits for it: a
/// file `<node>.<job>.no-agent` (node_name.hpp) in the folder of facts, and this process' own memory, which is all that
/// there is without such a folder. For half a minute; then one process tries again. Not for two threads at once.
namespace failed_start {

/// Why it could not be started; null: nothing is known, or it is long ago.
const char* recent(const settings& wanted);
void note(const settings& wanted, const char* why);
/// One was started.
void forget(const settings& wanted);

}  // namespace failed_start
}  // namespace halcyon::coordinate::page_access
