#pragma once

namespace halcyon::calls {

/// Whether this process is a part of MPI that starts the application and carries its words (orterun, hydra's proxy),
/// and nothing of the application runs in it. By the name of its program, asked for once. Neither allocates nor makes
/// calls that could be interposed.
bool is_mpi_launcher();

}  // namespace halcyon::calls
