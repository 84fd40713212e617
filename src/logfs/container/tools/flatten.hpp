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
    /// Called after each part with how many bytes of the file are done; false: stop, nothing is left.
    std::function<bool(int64_t)> on_progress;
};

struct flatten_report {
    int64_t size = 0;
    int64_t written_bytes = 0;  ///< without holes
};

/// Makes a plain file of a container: sparse where that has holes, with its mode and, where allowed, its owner. The
/// file has its name only when all of it is on the device. `target` may be the container's own path: the file then
/// takes its place, and the container is removed; both by one exchange of names. Otherwise what has the name is
/// replaced.
///
/// Failure: unavailable, somebody goes on writing; config, the container is damaged; system. Nothing is left then.
result<flatten_report> flatten(container& from, const std::string& target, const flatten_options& how = {});

}  // namespace halcyon::logfs
