#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

struct bring_options {
    /// Called with how many bytes are about to be brought of one dropping, and the directory of the container into
    /// which: before the first of them.
    std::function<void(int64_t, const std::string&)> on_begin;
    /// Called before so many bytes are written; may take its time.
    std::function<void(int64_t)> before_write;
    /// Called after each piece with how many bytes were brought in all; false: stop, what was brought stays.
    std::function<bool(int64_t)> on_progress;
};

/// Data of one writer that are not in the container yet.
struct staged_elsewhere {
    std::string host;
    std::string folder;  ///< on that host
    int64_t bytes = 0;
    bool is_here = false;  ///< this is that node; its writer is still at it
};

struct bring_report {
    int64_t brought_bytes = 0;
    uint64_t finished = 0;  ///< droppings that are whole in the container now, and on its device
    std::vector<staged_elsewhere> left;
};

/// Brings what lies on this node's disks (directory/staged_data.hpp) into the container and on its device: of a writer
/// that has ended, all, and its index then says that it is durable; of one that still writes, what it has written by
/// now. Whatever cuts it short, the next call goes on with it. Several at a time do the same work twice.
///
/// Failure: system; unavailable (ECANCELED), it was stopped; config, the container's marker is damaged. All droppings
/// are tried before a failure of one of them is returned.
result<bring_report> bring(container& into, const bring_options& how = {});

/// Removes from a stage what nobody needs any more of containers that were created below `root`: data of which their
/// container has all, or that have no container. `stage`: as users name it. `containers`: all that there are below the
/// root, also those on their way away. What a process of this host may still write stays.
void clean_stage(const std::string& stage, const std::string& root, const std::vector<std::string>& containers);

}  // namespace halcyon::logfs
