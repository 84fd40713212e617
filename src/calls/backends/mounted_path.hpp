#pragma once

#include <climits>
#include <cstddef>

#include "calls/backends/mounts.hpp"
#include "calls/backends/path_room.hpp"

/// Paths that lie under a mount, and a working directory there, which the process keeps itself: the kernel's is the
/// mount's prefix then.
namespace halcyon::calls::backends {

/// A path that lies under a mount, and the backend that it is a path of.
class mounted_path {
  public:
    /// Looks at `path` from `directory` (a descriptor, or AT_FDCWD) as the kernel would, but for symbolic links: none
    /// is followed on the way into a mount, but those that `..` stands behind. False: it is the kernel's matter.
    ///
    /// The kernel cannot be asked for a relative path that leads out of a mount again: each operation on it is EXDEV.
    bool find(int directory, const char* path);
    /// As find(), of a name that stands for a descriptor (/dev/stdin, /dev/fd/7, /proc/self/fd/7), where that is one of
    /// a backend in front of a directory of the kernel's: its file is opened anew by it. The kernel would open what the
    /// descriptor is made of.
    bool find_descriptor(const char* path);
    /// As find(), of what a descriptor stands for, of a backend or of the kernel.
    bool find_opened(int fd);
    /// As find(), for chdir; also true where a working directory under a mount is left.
    bool find_next_working_directory(const char* path);
    /// The working directory becomes this one, if it is a directory. 0, or -errno.
    int become_working_directory();
    /// Also a path that find() left to the kernel, where it lies under a mount of this backend.
    [[nodiscard]] bool lies_in(const file_backend& of) const { return of_ == &of; }
    [[nodiscard]] file_backend& backend() const { return *of_; }
    /// It was the backend's when it was found, and has become a file of the kernel's.
    [[nodiscard]] bool is_kernels_now() const { return of_->shares_names() && !of_->answers(path()); }
    /// With the prefix; but of the prefix itself, which ends with a slash then.
    [[nodiscard]] const char* whole() const { return whole_.text(); }
    /// Below the prefix.
    [[nodiscard]] const char* path() const { return whole_.text() + prefix_; }

  private:
    size_t complete(int directory, const char* path, bool& from_mount);
    size_t put_directory(int directory, bool& from_mount);
    size_t put_path_of(int fd);
    bool look_up(size_t length);
    bool answers_or_leads_out(size_t length, bool from_mount);

    file_backend* of_ = nullptr;
    size_t prefix_ = 0;
    bool is_lost_ = false;  // `..` stands behind what the kernel does not find
    path_room whole_;
};

/// The working directory, where it lies under a mount; its length, 0 where it does not. `out`: room for PATH_MAX, or
/// null.
size_t working_directory(char* out);
/// A descriptor of a backend's directory becomes the working directory. 0, or -errno.
int change_working_directory(int fd);
/// The kernel has another working directory now.
void left_working_directory();
/// In a program that just started: what working_directory_of_children() said in the one that started it; null: nothing.
void inherit_working_directory(const char* path);

/// `NAME=value` for the environment of a program that this process becomes or starts, by which it finds the working
/// directory where that lies under a mount; null where it does not.
const char* working_directory_of_children();
inline constexpr char working_directory_variable[] = "HALCYON_WORKING_DIRECTORY";

}  // namespace halcyon::calls::backends
