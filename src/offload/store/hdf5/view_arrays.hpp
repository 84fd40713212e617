#pragma once

#include <string>
#include <vector>

#include "offload/store/hdf5/view_plan.hpp"

namespace halcyon::offload::hdf5 {

/// The arrays that show one variable; dimensions are not named yet.
struct variable_arrays {
    std::vector<view_variable> arrays;     ///< one, or one per domain
    std::vector<int64_t> stacked_domains;  ///< not empty: the array has a dimension over these domains
    std::vector<std::string> not_shown;
};

/// A variable with a place becomes one array of the whole's shape, ghost layers cut off. One without: a single domain
/// as it is, several of equal shape with a leading dimension of domains, otherwise one array per domain
/// (`<name>/d000003`). What changes its shape in time stays in the files.
[[nodiscard]] variable_arrays arrays_of(const gathered_variable& variable, int64_t times);

}  // namespace halcyon::offload::hdf5
