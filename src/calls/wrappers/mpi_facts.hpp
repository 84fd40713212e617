#pragma once

#include <cstdint>

#include "calls/wrappers/mpi_library.hpp"

/// What is told of MPI besides its calls (layer::on_fact).
namespace halcyon::calls::mpi {

/// mpi.library, mpi.rank and mpi.size of this process, once, as soon as MPI can tell.
void tell_of_world();

/// Of a file that was opened: mpi.amode, mpi.ranks and the hints in force (mpi.hint.<name>).
void tell_of_file(uint32_t id, handle file, handle communicator, int access);

}  // namespace halcyon::calls::mpi
