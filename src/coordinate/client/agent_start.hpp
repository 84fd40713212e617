#pragma once

#include <cstdint>

namespace halcyon::coordinate::page_access {

struct settings;

/// Starts halcyon-agent, detached from this process in every respect: own session, /dev/null as 0 to 2, no other
/// descriptors, no variables of MPI or of the loader; neither it nor what started it is a child of the application.
/// Returns when it says that it is ready or that another one listens, or has ended, at `until_ns` at the latest. Null;
/// or why it did not come up, valid until the next call.
const char* start_agent(const settings& wanted, int64_t until_ns);

}  // namespace halcyon::coordinate::page_access
