#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

struct flatten_options {
    /// Compares data with their sums, where there are any.
    bool verifies_data = true;
    /// Takes the container's place even where a process may still have it open.
    bool ignores_writers = false;
    /// Called before each round with how many bytes the file has.
    std::function<void(int64_t)> on_size;
    /// Called after each part with how many bytes of the file are done; false: stop, nothing is left.
    std::function<bool(int64_t)> on_progress;
    /// Called before so many bytes are written; may take its time.
    std::function<void(int64_t)> before_write;
};

struct flatten_report {
    int64_t size = 0;
    int64_t written_bytes = 0;  ///< without holes
    /// That writers wrote at times that do not say which was last: the file may have the other bytes.
    int64_t conflict_bytes = 0;
};

/// Makes a plain file of a container: sparse where that has holes, with its mode, its times and, where allowed, its
/// owner. The file has its name only when all of it is on the device. Where something else has the name, that is
/// replaced.
///
/// `target` may be the container's own path. The file then takes its place, by one exchange of names where the file
/// system can do that, and the container is removed. What a process that has it open wrote later would be lost: so each
/// writer must have closed it, or be known to have ended, and nobody may say that he has it open (open_mark.hpp).
///
/// Failure: unavailable, somebody goes on writing, has it open, or flattens it at the same time (where the file system
/// has locks); config, the container is damaged; system. Nothing is left then.
result<flatten_report> flatten(container& from, const std::string& target, const flatten_options& how = {});

/// Ends what processes that were killed left behind in a folder while they flattened in place: files that were not
/// finished go, containers whose place a file has taken go, and a file that was about to take the place gets it.
/// Failure (system): the first of them; all are tried.
result<void> finish_flattening(const std::string& folder);

}  // namespace halcyon::logfs
