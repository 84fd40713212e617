#pragma once

#include "coordinate/coordinator/registry.hpp"

namespace halcyon::coordinate {

/// Applications that move side by side, are much slower than alone, and move little more together than one of them
/// alone show that the storage is at its limit. Of those of them whose speed alone is not known, agents tell no speeds:
/// how much they are slowed down, and slow others down, is not seen. So they are taken to use all of the storage until
/// they have moved alone. Not so one that moves too little to be the cause.
///
/// An application that is known, and is as fast as alone, shows the contrary: who is slow beside it is small.
///
/// Goes by what reports have told since exactly those move that do, and by the latest looks at all nodes (job::look).
class storage_limit {
  public:
    /// `of` has told what it moved, and was looked at. True: an application is taken to use more than before.
    /// `movers_since_s`: since when exactly those move that do.
    static bool reported(registry& all, job& of, double movers_since_s, double now_s);

  private:
    static bool is_slow(const job& one, double movers_since_s);
    static bool take_others_for_all(registry& all, const job& of, double movers_since_s);
    static bool take_for_all(registry& all, job& of, double movers_since_s);
};

}  // namespace halcyon::coordinate
