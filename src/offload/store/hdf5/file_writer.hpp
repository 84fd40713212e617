#pragma once

#include <vector>

#include "offload/store/contents/domain_rows.hpp"
#include "offload/store/hdf5/chunk_source.hpp"
#include "offload/store/hdf5/output_file.hpp"
#include "offload/store/hdf5/pattern_memory.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Writes the contents of `job` into `out` and closes the HDF5 file; what the disk said is in `out`.
/// Any thread may write at any time, each with a
/// memory of its own. Throws (config) for a name that cannot be stored, (usage) for blocks that contradict the job,
/// (system) for HDF5.
void write_contents(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                    writer_memory& memory, pattern_memory& patterns);

}  // namespace halcyon::offload::hdf5
