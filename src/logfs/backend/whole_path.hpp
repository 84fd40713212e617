#pragma once

#include <sys/stat.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calls/backends/path_room.hpp"

namespace halcyon::logfs {

/// What has a name.
enum class kind : uint8_t {
    other,  ///< a plain file, a symbolic link, anything that is the kernel's alone
    directory,
    container,
};

struct found {
    kind is = kind::other;
    bool is_plfs = false;
    struct stat state {};
};

/// Names that may be those of files within containers: only below such a name can something be inside of one.
bool may_be_inner(std::string_view name);
/// Names of what is on its way into a directory, or out of it: these are never listed.
bool is_hidden_name(std::string_view name);

/// Whether the directory `name` below the directory `fd` (AT_FDCWD, or a descriptor) is a container.
bool is_container(int fd, const char* name);

/// A path of the kernel's: below a directory that has its links resolved.
class whole_path {
  public:
    /// `path`: as file_backend has it, "/" for the root.
    whole_path(std::string_view root, const char* path);

    [[nodiscard]] const char* c_str() const { return text_.text(); }
    [[nodiscard]] std::string_view view() const { return {text_.text(), length_}; }
    [[nodiscard]] bool is_root() const { return length_ <= root_; }
    [[nodiscard]] std::string_view last_name() const;

    /// What has this name; -errno as the kernel's stat, for which containers are files: nothing is below them.
    int look(bool follow, found& out) const;
    /// Likewise, but what looks like a container may be a directory: opening it tells (likely_marking_of).
    int look_quickly(bool follow, found& out) const;
    /// Whether a directory, which is no container, would have this name in it: 0, or -ENOTDIR, -ENOENT.
    [[nodiscard]] int expect_parent() const;
    /// Whether a directory on the way here is a container.
    [[nodiscard]] bool is_inside() const;
    [[nodiscard]] bool may_be_inside() const;

    /// The name is a symbolic link: becomes the path that it leads to, one step. 0, or -errno.
    int follow_link();

  private:
    void put(std::string_view text);
    template <class Marking>
    int look_by(Marking marking, bool follow, found& out) const;

    calls::path_room text_;
    size_t length_ = 0;
    size_t root_ = 0;
};

}  // namespace halcyon::logfs
