#pragma once

#include <string>
#include <vector>

#include "offload/store/hdf5/domain_rows.hpp"
#include "offload/store/hdf5/output_file.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// A file without its values, as HDF5 made it once. Files of a run mostly differ in their values and in the numbers of
/// their iterations alone: the next one is written without asking HDF5 for each dataset again, which takes longer than
/// writing 64 KiB.
struct file_pattern {
    std::string description;                  ///< what HDF5 was told; see description_of()
    std::vector<output_file::extent> values;  ///< of the iterations, then of each chunk in order of writing
    output_file::pieces metadata;             ///< and texts
    uint64_t size = 0;
};

/// Everything that decides how a file looks but its values: files of equal descriptions have equal metadata. Empty:
/// that is not known beforehand (compression), or will not come again (missing blocks).
[[nodiscard]] std::string description_of(const file_job& job, const std::vector<domain_rows>& datasets);

/// What has just been written into `out`, for files like it. Nothing (an empty description) unless the first pieces of
/// data have the sizes `expected`: then the pattern would not tell where values belong.
[[nodiscard]] file_pattern pattern_of(std::string description, output_file& out, const std::vector<size_t>& expected);

}  // namespace halcyon::offload::hdf5
