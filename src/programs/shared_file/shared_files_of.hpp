#pragma once

#include <mpi.h>

#include <memory>

#include "offload/server/shared_files.hpp"
#include "programs/mpi_job_events.hpp"

namespace halcyon {

/// What a world's servers write together with; null in a build without an HDF5 for its MPI. Collective, before carry().
std::unique_ptr<offload::shared_files> shared_files_of(MPI_Comm world, mpi_job_events& events);

}  // namespace halcyon
