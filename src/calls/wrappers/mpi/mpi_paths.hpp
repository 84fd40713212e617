#pragma once

#include <climits>
#include <cstddef>
#include <cstring>

#include "calls/backends/followed_path.hpp"
#include "calls/wrappers/mpi/mpi_library.hpp"

namespace halcyon::calls::mpi {

/// The path without the file system that MPI-IO lets users put before it ("ufs:/scratch/a").
const char* without_prefix(const char* path);

/// A path that MPI-IO is given. Where links of the kernel lead into a mount of a backend, the library is given the path
/// to where they lead: so it finds the file as if it had been named by that.
///
/// With "halcyon:" before it, it has to lie where a backend answers: there the library is given the path without that.
/// Elsewhere the library is given all of it, which is no file system that it knows, and fails; a line on standard error
/// says why.
class library_path {
  public:
    explicit library_path(const char* given, backends::last_link last = backends::last_link::is_followed);
    library_path(const library_path&) = delete;
    library_path& operator=(const library_path&) = delete;

    [[nodiscard]] const char* get() const { return path_; }

  private:
    static constexpr size_t room_for_prefix = 16;

    bool follow(backends::last_link last);

    const char* path_;
    char followed_[room_for_prefix + PATH_MAX];
};

/// Likewise, of Fortran's text at `given`, `length` bytes with blanks, which is `text` without these.
class fortran_path : public library_path {
  public:
    fortran_path(const char* text, const char* given, size_t length,
                 backends::last_link last = backends::last_link::is_followed)
        : library_path(text, last), is_changed_(library_path::get() != text), given_(given), length_(length) {}

    /// What the library is given.
    [[nodiscard]] const char* given() const { return is_changed_ ? get() : given_; }
    [[nodiscard]] size_t length() const { return is_changed_ ? std::strlen(get()) : length_; }

  private:
    bool is_changed_;
    const char* given_;
    size_t length_;
};

}  // namespace halcyon::calls::mpi
