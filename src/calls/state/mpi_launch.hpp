#pragma once

#include <cstddef>
#include <cstdint>

/// What the launcher of an MPI job told this process, which is known before MPI has started.
namespace halcyon::calls::mpi_launch {

/// A number that all processes of this launch have in common, and no other launch has, be it of the same batch job; 0:
/// the launcher gives nothing that tells it apart. One launch is one MPI_COMM_WORLD.
uint64_t name();

/// This process' rank in MPI_COMM_WORLD; -1 where the launcher does not say.
int rank();

/// True when the launcher said that all ranks are on this node.
bool is_on_one_node();

}  // namespace halcyon::calls::mpi_launch
