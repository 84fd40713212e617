#pragma once

#include <fuse_lowlevel.h>

#include "base/descriptor.hpp"
#include "logfs/mount/state/open_containers.hpp"

namespace halcyon::logfs {

/// What a program has open: a container, or else a file of the backend.
struct open_file {
    open_containers::use log;
    descriptor plain;

    [[nodiscard]] bool is_container() const { return static_cast<bool>(log); }
};

inline open_file& open_file_of(const fuse_file_info* info) {
    return *reinterpret_cast<open_file*>(info->fh);
}

}  // namespace halcyon::logfs
