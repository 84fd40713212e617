#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "offload/server/iteration_book.hpp"

namespace halcyon::offload {

/// An event that was raised, and what its plugins will see of it.
struct action_occasion {
    uint32_t event_id = 0;
    int64_t iteration = 0;
    int client = -1;                          ///< that raised it, or -1
    std::vector<iteration_book::key> blocks;  ///< of the iteration; pinned
    std::vector<iteration_book::key> once;    ///< written once, and before; pinned
    size_t left_out = 0;                      ///< blocks that they would see, if these were still in memory
    std::vector<double> parameters{};
};

}  // namespace halcyon::offload
