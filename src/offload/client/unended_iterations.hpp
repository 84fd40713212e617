#pragma once

#include <cstdint>
#include <string>

namespace halcyon::offload {

/// Iterations that other ranks of the session ended, and of which no server marks what is missing.
struct unended_iterations {
    int64_t first = 0, end = 0;  ///< from `first` up to before `end`
    std::string who;             ///< did not end them: a rank, or a whole node
    bool counted = true;         ///< by this rank, of those of its node to which iterations are missing
};

}  // namespace halcyon::offload
