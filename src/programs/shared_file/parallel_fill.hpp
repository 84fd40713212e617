#pragma once

#include <mpi.h>

#include <span>

#include "offload/store/shared_plan.hpp"

namespace halcyon {

/// Collective: opens `file.about.path` + ".tmp", which lay_out() made, with parallel HDF5, and writes the blocks that
/// `mine` holds to where the plan puts them, all servers at the same time and dataset by dataset. Adds to `report` what
/// was stored. Every server comes through to the end, whatever fails; failure: of this server.
result<void> parallel_fill(MPI_Comm servers, const offload::shared_file& file, const offload::shared_plan& plan,
                           std::span<const offload::block_view> mine, offload::file_report& report);

}  // namespace halcyon
