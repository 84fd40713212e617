#pragma once

#include <hdf5.h>

#include <vector>

#include "offload/store/hdf5/domain_rows.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Writes `index/<variable>/min_max` below the group `own`: float64 of shape (rows, datasets, 3) with the smallest and
/// largest stored value and the number of NaNs of each block (-1: the block is missing), and the datasets' names as
/// attribute. The bounds are those of the values as stored, after rounding.
void write_index(hid_t own, const file_job& job, const std::vector<domain_rows>& datasets);

}  // namespace halcyon::offload::hdf5
