#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/shared_layout.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// What all servers know of one block of a file that they fill together. Trivially copyable: sent as bytes.
struct shared_block {
    uint32_t variable_id = 0;
    int32_t rank = 0;   ///< writer's rank in the communicator of open
    int32_t block = 0;  ///< writer's block number
    int32_t server = 0;
    int64_t iteration = 0;
    int64_t index = 0;  ///< among the blocks that this server brings
    block_shape shape;
};
static_assert(has_copied_layout<shared_block, 360, 8>());

/// Where each block goes.
struct shared_plan {
    std::vector<shared_dataset> datasets;  ///< in order of (variable, domain)
    struct part {
        int32_t server = 0;
        int64_t index = 0;
        int64_t row = 0;
    };
    std::vector<std::vector<part>> parts;  ///< for each dataset, in order of (server, row, index)
};

/// The same on every server, given the same blocks in any order. The blocks of a placed variable become one array over
/// its whole, those of others one array for each domain (and shape). `iterations`: ascending, those of the file.
[[nodiscard]] shared_plan plan_shared_file(const model& data, std::span<const int64_t> iterations,
                                           std::vector<shared_block> blocks);

}  // namespace halcyon::offload
