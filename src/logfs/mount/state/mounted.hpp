#pragma once

#include <fuse_lowlevel.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "logfs/mount/state/failure_log.hpp"
#include "logfs/mount/state/mount_options.hpp"
#include "logfs/mount/state/node_table.hpp"
#include "logfs/mount/state/open_containers.hpp"
#include "logfs/mount/state/page_dropper.hpp"
#include "logfs/mount/state/removal.hpp"

namespace halcyon::logfs {

/// What all requests of one mount work on.
struct mounted {
    const mount_options& options;
    failure_log& log;
    node_table nodes;
    open_containers containers;
    removal removed;
    std::atomic<int64_t> open_files{0};  ///< and folders, by programs
    fuse_session* session = nullptr;
    std::optional<page_dropper> pages{};  ///< while it is served
};

}  // namespace halcyon::logfs
