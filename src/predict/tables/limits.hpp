#pragma once

#include <cstdint>

namespace halcyon::predict {

/// Cut-offs of the tables.
struct limits {
    /// Distinct sizes of a context, and distinct offset transformations of a transition, that a local grammar may
    /// have; with more of them statistics take over. 24 in Dorier 2014, section 7.2.2; at most 64.
    uint32_t distinct_values = 24;
    /// Patterns of file names that a context tells apart; with more of them it tells none.
    uint32_t file_classes = 24;

    static constexpr uint32_t most_values = 64;
};

}  // namespace halcyon::predict
