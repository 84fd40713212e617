#pragma once

namespace halcyon::testing {

/// The collective call over several processes, counted from 1, that fails as MPI's own would: its communicator's error
/// handler is called. 0: none fails. The program's functions of MPI come before those of the library.
extern int collectives_left;

}  // namespace halcyon::testing
