#pragma once

#include <hdf5.h>

#include <span>
#include <vector>

#include "offload/store/hdf5/chunk_encoder.hpp"
#include "offload/store/hdf5/domain_rows.hpp"

namespace halcyon::offload::hdf5 {

/// How the datasets of a variable are cut into chunks, the same as long as its blocks have one shape.
struct dataset_shape {
    const variable* var = nullptr;
    encoding how;
    std::vector<hsize_t> shape, chunk;
    bool empty = false;
};

/// True when `known` had to change for `set`.
bool fit(dataset_shape& known, const file_job& job, const domain_rows& set);

/// Steps `origin` to the next chunk in C order; false behind the last one.
bool next_chunk(std::vector<hsize_t>& origin, std::span<const hsize_t> chunk, std::span<const hsize_t> shape);

}  // namespace halcyon::offload::hdf5
