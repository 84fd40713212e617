#pragma once

#include "logfs/backend/log_nodes.hpp"
#include "logfs/backend/open_handles.hpp"

namespace halcyon::logfs {

/// What the log_backends of a process have in common.
struct backend_state {
    log_nodes nodes;
    open_handles handles;
    node_settings settings;
};
extern constinit backend_state state;

}  // namespace halcyon::logfs
