#pragma once

#include "logfs/backend/log_nodes.hpp"
#include "logfs/backend/open_handles.hpp"

/// What the log_backends of a process have in common.
namespace halcyon::logfs::state {

extern constinit node_settings settings;
extern constinit log_nodes nodes;
extern constinit open_handles handles;

}  // namespace halcyon::logfs::state
