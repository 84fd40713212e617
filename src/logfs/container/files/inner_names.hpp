#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace halcyon::logfs {

/// Of host directories in other backends (directory/other_backends.hpp): how the link's target is called, and the file
/// in it that has the inode of the container that it belongs to.
inline constexpr std::string_view other_directory_prefix = ".halcyon-hostdir-";
inline constexpr std::string_view owner_name = "owner";

/// How file_calls opens what has a name. Whoever may write into a container, or made one, may have put anything into it;
/// others, root among them, open it all the same. So no link there leads anybody elsewhere, nor does a pipe keep anybody
/// waiting: but a host directory may lie in another backend. `System` makes the calls, each of which returns -errno
/// where it fails.
template <class System>
class inner_names {
  public:
    static int open(int directory, const char* name, int flags, mode_t mode) {
        flags |= O_CLOEXEC;
        if ((flags & O_DIRECTORY) != 0) return System::open(directory, name, flags, mode);
        flags |= O_NOFOLLOW;
        if (directory < 0 || *name == '/') return System::open(directory, name, flags, mode);
        if ((flags & O_EXCL) == 0) flags |= O_NONBLOCK;
        const char* const slash = std::strchr(name, '/');
        if (slash == nullptr) return System::open(directory, name, flags, mode);
        // PLFS has links to its other backends that nothing else tells from others.
        const bool is_of_plfs = std::string_view(slash + 1).starts_with("dropping.");
        const int folder = open_folder(directory, {name, static_cast<size_t>(slash - name)}, is_of_plfs);
        if (folder < 0) return folder;
        const int fd = System::open(folder, slash + 1, flags, mode);
        System::close(folder);
        return fd;
    }

  private:
    static constexpr int folder_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

    static int open_folder(int directory, std::string_view name, bool is_of_plfs) {
        char folder[NAME_MAX + 1];
        if (name.size() >= sizeof folder) return -ENAMETOOLONG;
        std::memcpy(folder, name.data(), name.size());
        folder[name.size()] = '\0';
        const int fd = System::open(directory, folder, is_of_plfs ? folder_flags & ~O_NOFOLLOW : folder_flags, 0);
        return fd == -ENOTDIR || fd == -ELOOP ? open_other(directory, name, folder) : fd;
    }

    /// -ELOOP: a link to what is no host directory of this container.
    [[gnu::noinline]] static int open_other(int directory, std::string_view name, const char* folder) {
        char target[PATH_MAX];
        const int64_t length = System::read_link(directory, folder, target, sizeof target - 1);
        if (length == -EINVAL) return -ENOTDIR;
        if (length < 0) return static_cast<int>(length);
        target[length] = '\0';
        const std::string_view to(target, static_cast<size_t>(length));
        const std::string_view last = to.substr(to.rfind('/') + 1);
        const size_t number = name.rfind('.');
        if (!last.starts_with(other_directory_prefix) || number == name.npos || !last.ends_with(name.substr(number)))
            return -ELOOP;
        const int fd = System::open(AT_FDCWD, target, folder_flags, 0);
        if (fd < 0 || is_of(directory, fd)) return fd;
        System::close(fd);
        return -ELOOP;
    }

    /// By the same user's hand, or by what it says: a copy of a container has the links of the first one.
    static bool is_of(int container, int other) {
        struct stat ours {};
        struct stat its {};
        if (System::status(container, ours) != 0 || System::status(other, its) != 0) return false;
        if (ours.st_uid == its.st_uid) return true;
        const int fd = System::open(other, owner_name.data(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
        if (fd < 0) return false;
        char text[24] = {};
        const int64_t bytes = System::read(fd, text, sizeof text);
        System::close(fd);
        uint64_t inode = 0;
        return bytes > 0 && std::from_chars(text, text + bytes, inode).ec == std::errc() && inode == ours.st_ino;
    }
};

}  // namespace halcyon::logfs
