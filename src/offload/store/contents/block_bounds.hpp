#pragma once

#include <string>
#include <vector>

#include "offload/store/contents/domain_rows.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// Bounds of the blocks of one variable, as stored after rounding.
struct variable_index {
    std::string variable;
    size_t rows = 0;
    std::vector<std::string> datasets;
    std::vector<double> table;  ///< (rows, datasets, 3): smallest, largest, number of NaNs; -1: the block is missing
};

/// Looks at each value; uses no library of the format.
[[nodiscard]] std::vector<variable_index> index_of(const file_job& job, const std::vector<domain_rows>& datasets);

}  // namespace halcyon::offload
