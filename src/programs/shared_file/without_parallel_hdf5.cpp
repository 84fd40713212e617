#include "programs/shared_file/shared_files_of.hpp"

namespace halcyon {

std::unique_ptr<offload::shared_files> shared_files_of(MPI_Comm /*world*/, mpi_job_events& /*events*/) {
    return nullptr;
}

}  // namespace halcyon
