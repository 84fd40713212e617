#pragma once

#include "offload/store/contents/scratch.hpp"
#include "offload/store/store.hpp"
#include "offload/store/zarr/chunk_encoder.hpp"
#include "offload/store/zarr/output_folder.hpp"

namespace halcyon::offload::zarr {

/// The memory that writing needs, kept from data file to data file; one thread uses it at a time.
struct writer_memory {
    chunk_encoder encoder;
    scratch cut;
};

/// Writes the contents of `job` into `out`. Throws (config) for a name that cannot be stored, (usage) for blocks that
/// contradict the job, (system) for what the file system says.
void write_contents(const file_job& job, output_folder& out, writer_memory& memory);

}  // namespace halcyon::offload::zarr
