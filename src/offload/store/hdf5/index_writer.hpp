#pragma once

#include <hdf5.h>

#include <vector>

#include "offload/store/contents/block_bounds.hpp"

namespace halcyon::offload::hdf5 {

/// Writes `index/<variable>/min_max` below the group `own`: the table in float64, and the datasets' names as attribute.
void write_index(hid_t own, const std::vector<variable_index>& index);

}  // namespace halcyon::offload::hdf5
