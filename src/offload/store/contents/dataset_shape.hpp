#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "offload/store/contents/domain_rows.hpp"
#include "offload/store/contents/encoding.hpp"

namespace halcyon::offload {

/// How the datasets of a variable are cut into chunks, the same as long as its blocks have one shape.
struct dataset_shape {
    const variable* var = nullptr;
    encoding how;
    std::vector<uint64_t> shape, chunk;
    bool empty = false;
};

/// True when `known` had to change for `set`.
bool fit(dataset_shape& known, const file_job& job, const domain_rows& set);

/// Steps `origin` to the next chunk in C order; false behind the last one.
bool next_chunk(std::vector<uint64_t>& origin, std::span<const uint64_t> chunk, std::span<const uint64_t> shape);

}  // namespace halcyon::offload
