#pragma once

#include <cstdint>
#include <vector>

#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Shape of the chunks of a dataset of shape (rows, block…), for the reader that is expected:
/// as written: one iteration's block, so that it goes to disk from the simulation's memory;
/// time series: all rows and a small box in space; maps: one row and one plane of the two fastest dimensions.
/// No chunk exceeds 1 GiB (HDF5 itself ends at 4, zlib counts in 32 bits): larger ones are split along their slowest
/// dimensions. Rows and dimensions of extent 0 give chunks of extent 1.
[[nodiscard]] std::vector<uint64_t> chunk_shape(int64_t rows, const extents& block, int64_t element_bytes,
                                                reader expected);

}  // namespace halcyon::offload
