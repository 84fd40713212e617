#pragma once

namespace halcyon::calls::mpi {

/// Measures how far the clocks of the job's nodes are apart: once after MPI_Init and once before MPI_Finalize, so that
/// their drift is known, too. Each node's first process tells the fact `clock.offset`: nanoseconds that its clock is
/// ahead of that of rank 0's node, the bound of the error, and its own time at that moment. Takes no time where all
/// ranks are on one node.
///
/// No rank may wait for one that takes no part, because it lacks this library, say. Therefore only those exchange
/// messages who have announced themselves in the folder that all processes of the run see: rank 0 collects the
/// announcements for a bounded time and then calls each node in turn; a node that announced itself waits longer than
/// rank 0 collects. The messages are few and small, on MPI_COMM_WORLD under one tag, and all are received before the
/// application's code runs again.
void align_clocks_at_start();
void align_clocks_at_end();

}  // namespace halcyon::calls::mpi
