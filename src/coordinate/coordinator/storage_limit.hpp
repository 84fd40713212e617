#pragma once

#include "coordinate/coordinator/registry.hpp"

namespace halcyon::coordinate {

/// Applications that move side by side and are much slower than alone show that the storage is at its limit. Of those
/// of them that have never moved alone, agents tell no speeds: how much they are slowed down, and slow others down, is
/// not seen. So they are taken to use all of the storage until they have moved alone.
///
/// An application that is known, and is as fast as alone, shows the contrary: who is slow beside it is small.
class storage_limit {
  public:
    /// `of` has told what it moved. True: an application is taken to use more than before. `movers_since_s`: since when
    /// exactly those move that do.
    static bool reported(registry& all, job& of, double movers_since_s, double now_s);

  private:
    static bool is_known(const job& one, double now_s);
    static bool is_slow(const job& one, double now_s);
};

}  // namespace halcyon::coordinate
