#pragma once

#include <cstdint>

namespace halcyon::testing {

/// The allocation of this thread, counted from 1, that finds no memory; 0: all find some. Of operator new, libhalcyon's
/// too: the program's comes before that of the C++ library.
extern thread_local int64_t allocations_left;

}  // namespace halcyon::testing
