#pragma once

#include <cstddef>

namespace halcyon::calls {

/// Names the clock that CLOCK_MONOTONIC of this process is: processes with the same name read the same clock. The boot
/// of the node, and the time namespace, which containers may have of their own. Always ended by 0; returns its length.
size_t node_clock_name(char* out, size_t room);

}  // namespace halcyon::calls
