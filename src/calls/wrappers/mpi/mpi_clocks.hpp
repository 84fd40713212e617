#pragma once

/// Measures how far the clocks of the job's nodes are apart: once after MPI_Init and once before MPI_Finalize, so that
/// their drift is known, too. One process of each node tells the fact `clock.offset`: nanoseconds that its clock is
/// ahead of that of rank 0's node, the bound of the error, and its own time at that moment. Takes no time where all
/// ranks are on one node.
///
/// No rank waits for one that takes no part, because it lacks this library, say: who takes part is agreed through
/// files (clock_meeting.hpp). The few small messages go over a communicator of their own, made over these ranks alone,
/// and none of them is waited for without a limit: a process that stands still costs measurements. Rank 0 compares with
/// each of the others as they come, for 5 s at the start and 60 s at the end, and tells those who did not that it has
/// given up: one that comes later does not wait for it.
///
/// One wait has no limit: MPI has no way to make a communicator that has one, and none over fewer than all ranks that
/// does not block. A process that ends or is stopped after it was agreed on and before the communicator is made, which
/// is some milliseconds later, stops the others until it goes on, or until the launcher ends the job.
namespace halcyon::calls::mpi::clocks {

/// Before MPI_Init.
void announce();
/// After MPI_Init.
void compare_at_start();
/// Before MPI_Finalize.
void compare_at_end();

}  // namespace halcyon::calls::mpi::clocks
