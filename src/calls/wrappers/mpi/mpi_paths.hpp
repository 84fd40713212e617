#pragma once

#include <cstddef>
#include <cstring>

#include "calls/wrappers/mpi/mpi_library.hpp"

namespace halcyon::calls::mpi {

/// The path without the file system that MPI-IO lets users put before it ("ufs:/scratch/a").
const char* without_prefix(const char* path);

/// A path that MPI-IO is given. With "halcyon:" before it, it has to lie where a backend answers: there the library is
/// given the path without that. Elsewhere the library is given all of it, which is no file system that it knows, and
/// fails; a line on standard error says why.
class library_path {
  public:
    explicit library_path(const char* given);

    [[nodiscard]] const char* get() const { return path_; }

  private:
    const char* path_;
};

/// Likewise, of Fortran's text at `given`, `length` bytes with blanks, which is `text` without these.
class fortran_path : public library_path {
  public:
    fortran_path(const char* text, const char* given, size_t length)
        : library_path(text), is_changed_(library_path::get() != text), given_(given), length_(length) {}

    [[nodiscard]] const char* get() const { return is_changed_ ? library_path::get() : given_; }
    [[nodiscard]] size_t length() const { return is_changed_ ? std::strlen(library_path::get()) : length_; }

  private:
    bool is_changed_;
    const char* given_;
    size_t length_;
};

}  // namespace halcyon::calls::mpi
