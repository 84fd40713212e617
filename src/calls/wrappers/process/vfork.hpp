#pragma once

#include <cstdint>

namespace halcyon::calls {

/// A process is about to be made with these flags of clone(2), or a thread: notes what a child has of ours.
void before_clone(uint64_t flags);

}  // namespace halcyon::calls
