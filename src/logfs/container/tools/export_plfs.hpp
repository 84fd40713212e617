#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

struct export_options {
    /// Compares data with their sums, where there are any.
    bool verifies_data = true;
    /// Called before each round with how many bytes the file has.
    std::function<void(int64_t)> on_size;
    /// Called after each part with how many bytes of the file are done; false: stop, nothing is left.
    std::function<bool(int64_t)> on_progress;
};

struct export_report {
    int64_t size = 0;
    int64_t written_bytes = 0;  ///< without holes
    uint64_t records = 0;       ///< of the index
};

/// Writes the file that a container stands for as a container of PLFS 2.x, with a byte-range index: as one writer on
/// this host would have written it from its beginning to its end. So nothing in it overlaps, whatever the precision of
/// PLFS's times, and only holes begin new records. It has its name only when all of it is on the device, with mode and,
/// where allowed, owner of the file.
///
/// Failure: system, EEXIST, something has the name `target`; unavailable, somebody goes on writing, or exports it into
/// the same folder at the same time (where the file system has locks); config, the container is damaged; system.
/// Nothing is left then.
result<export_report> export_plfs(container& from, const std::string& target, const export_options& how = {});

}  // namespace halcyon::logfs
