#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "offload/store/hdf5/domain_rows.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Bounds of the blocks of one variable, as stored after rounding.
struct variable_index {
    std::string variable;
    size_t rows = 0;
    std::vector<std::string> datasets;
    std::vector<double> table;  ///< (rows, datasets, 3): smallest, largest, number of NaNs; -1: the block is missing
};

/// Looks at each value; uses no library of the format.
[[nodiscard]] std::vector<variable_index> index_of(const file_job& job, const std::vector<domain_rows>& datasets);

/// Writes `index/<variable>/min_max` below the group `own`: the table in float64, and the datasets' names as attribute.
void write_index(hid_t own, const std::vector<variable_index>& index);

}  // namespace halcyon::offload::hdf5
