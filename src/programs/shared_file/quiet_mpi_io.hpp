#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace halcyon {

/// While it lives, MPI-IO reports no failed write to its caller, the parallel HDF5: the first failure is kept here.
///
/// HDF5 cannot be asked to give up a file whose disk is full: its close fails, the file stays half-open in its tables,
/// and the process may hang when MPI ends. The serial store has a file driver of its own against that; the one for
/// MPI cannot be replaced, but MPI's profiling interface allows a program to stand between it and MPI. One at a time,
/// on the thread that calls MPI.
class quiet_mpi_io {
  public:
    explicit quiet_mpi_io(std::string path);
    ~quiet_mpi_io();
    quiet_mpi_io(const quiet_mpi_io&) = delete;
    quiet_mpi_io& operator=(const quiet_mpi_io&) = delete;

    /// The first write on this server that failed.
    [[nodiscard]] const result<void>& outcome() const { return outcome_; }

    /// For the functions that stand before MPI's.
    int take(const char* doing, int status);
    int take(const char* doing, int status, int64_t bytes, int64_t written);

  private:
    std::string path_;
    result<void> outcome_;
};

}  // namespace halcyon
