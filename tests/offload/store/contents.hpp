#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "offload/store/store.hpp"

namespace halcyon::offload::testing {

struct stored_key {
    std::string variable;
    int64_t domain = 0;
    int64_t iteration = 0;
    friend auto operator<=>(const stored_key&, const stored_key&) = default;
};

struct stored_value {
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;  ///< in the type of the variable's layout
    friend bool operator==(const stored_value&, const stored_value&) = default;
};

using contents = std::map<stored_key, stored_value>;

inline contents contents_of(const file_job& job) {
    contents all;
    for (const block_view& block : job.blocks) {
        const auto shape = block.shape.dimensions.span();
        const int64_t iteration = block.var->time_varying ? block.iteration : job.iterations.front();
        all[{block.var->name, block.domain(), iteration}] = {{shape.begin(), shape.end()},
                                                             {block.data.begin(), block.data.end()}};
    }
    return all;
}

}  // namespace halcyon::offload::testing
