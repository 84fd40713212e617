#include "programs/shared_file/shared_files_of.hpp"
#include "programs/shared_file/world_files.hpp"

namespace halcyon {

std::unique_ptr<offload::shared_files> shared_files_of(MPI_Comm world, mpi_job_events& events) {
    return std::make_unique<world_files>(world, events);
}

}  // namespace halcyon
