#pragma once

#include <cstdint>

#include "calls/wrappers/mpi/mpi_library.hpp"

/// What is told of MPI besides its calls (layer::on_fact).
namespace halcyon::calls::mpi {

/// mpi.library, mpi.rank and mpi.size of this process, once, as soon as MPI can tell.
void tell_of_world();

/// Of a file that was opened: mpi.amode, mpi.ranks and the hints in force (mpi.hint.<name>).
void tell_of_file(uint32_t id, handle file, handle communicator, int access);

/// Of a view that was set, when its pieces lie apart: mpi.view, "64 bytes every 256". With pieces that are not all
/// alike it is the first one, and " at first" follows. `element`, `type`: bytes of data of the view's two types.
void tell_of_view(uint32_t id, handle file, int64_t element, int64_t type);

}  // namespace halcyon::calls::mpi
