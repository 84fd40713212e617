#pragma once

#include "calls/wrappers/mpi/mpi_library.hpp"

namespace halcyon::calls::mpi {

/// The info object that a file is opened with: the application's, or a copy of that with a hint of the backend that
/// answers for the file. Where the application says something else about this hint, in its info object or in the file
/// that ROMIO_HINTS names, that counts.
class file_hints {
  public:
    file_hints(const char* path, handle given);
    file_hints(const char* path, int* given);
    ~file_hints();
    file_hints(const file_hints&) = delete;
    file_hints& operator=(const file_hints&) = delete;

    [[nodiscard]] handle of_c() const { return used_; }
    [[nodiscard]] int* of_fortran() { return used_by_fortran_; }

  private:
    bool add(const char* path);

    handle used_;
    int* used_by_fortran_ = nullptr;
    handle made_ = nullptr;
    int number_ = 0;
    bool is_made_ = false;
};

}  // namespace halcyon::calls::mpi
