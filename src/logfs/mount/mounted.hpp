#pragma once

#include <cstddef>
#include <string>

#include "logfs/mount/failure_log.hpp"
#include "logfs/mount/mount_options.hpp"
#include "logfs/mount/node_table.hpp"
#include "logfs/mount/open_containers.hpp"
#include "logfs/mount/removal.hpp"

namespace halcyon::logfs {

/// What all requests of one mount work on.
struct mounted {
    const mount_options& options;
    failure_log& log;
    node_table nodes;
    open_containers containers;
    removal removed;
};

}  // namespace halcyon::logfs
