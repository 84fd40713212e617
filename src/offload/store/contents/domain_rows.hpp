#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "offload/store/contents/scratch.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// The blocks of one dataset: one domain of one variable, all of one shape and place, one row per iteration.
struct domain_rows {
    const variable* var = nullptr;
    int64_t domain = 0;
    int variant = 0;                      ///< > 0: the shape or place changed inside the file
    std::vector<const block_view*> rows;  ///< null = missing

    /// Any block: all have the same shape and place.
    [[nodiscard]] const block_view& sample() const;
    [[nodiscard]] std::vector<int64_t> present() const;
};

/// Sorts a job's blocks into datasets, in order of (variable, domain). A time-invariant variable has one row; of two
/// blocks for one row the later one is kept. Throws (usage) when a block's iteration is not one of the job's or its
/// bytes are not what its shape says.
[[nodiscard]] std::vector<domain_rows> sort_into_datasets(const file_job& job);

/// Cuts the box at `origin` of shape `chunk` (row first) out of `source`. When it is one piece of a block's memory
/// that memory is returned, otherwise `buffer` filled with it; what lies outside or is missing becomes fill.
[[nodiscard]] std::span<const std::byte> cut_chunk(const domain_rows& source, scalar_type type,
                                                   std::span<const uint64_t> origin, std::span<const uint64_t> chunk,
                                                   scratch& buffer);

}  // namespace halcyon::offload
