#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

struct punch_options {
    /// Waits until all readers that may still read what is dead by now have reloaded, or ended.
    bool waits = false;
};

struct punch_report {
    int64_t dead_bytes = 0;     ///< that nothing reads any more, in whole blocks
    int64_t punched_bytes = 0;  ///< of these, that were given back to the file system
    /// A reader may still read what is dead by now: so nothing was given back.
    bool is_held = false;
};

/// Gives back the blocks of data that later writes have replaced, as far as those are synced: a crash of a node never
/// makes anybody need them again. Writers and readers may go on (held_view.hpp says why they never see zeros for it).
/// Where data have sums, what was summed together is given back together, or not. Writers give back by themselves what
/// they have replaced of their own (space/own_space.hpp); this finds all else, too.
///
/// Failure: config, the container is damaged; unavailable, somebody else begins to do the same at this moment; system,
/// EOPNOTSUPP where the file system cannot, or has no locks.
result<punch_report> punch_dead(container& what, const punch_options& how = {});

}  // namespace halcyon::logfs
