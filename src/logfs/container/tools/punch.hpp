#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

struct punch_report {
    int64_t dead_bytes = 0;     ///< that nothing reads any more, in whole blocks
    int64_t punched_bytes = 0;  ///< of these, that were given back to the file system
};

/// Gives back the blocks of data that later writes have replaced, as far as those are synced: what a crash of a node
/// may leave never needs them again. Writers may go on. A reader that has not reloaded since the later writes would
/// read zeros there: the caller sees to it that there is none.
///
/// Failure: config, the container is damaged; system, EOPNOTSUPP where the file system cannot.
result<punch_report> punch_dead(container& what);

}  // namespace halcyon::logfs
