#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace halcyon::tests {

/// A file system of one MiB of memory over a folder, which is as it was when this ends. Needs root.
class small_disk {
  public:
    explicit small_disk(const std::filesystem::path& over) : path_(over.string()) {
        if (mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") != 0)
            why_not_ = std::string("cannot mount a small file system: ") + std::strerror(errno);
    }
    ~small_disk() {
        if (is_there()) umount2(path_.c_str(), MNT_DETACH);
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;

    [[nodiscard]] bool is_there() const { return why_not_.empty(); }
    /// For those who skip the test.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }
    /// Whether it can only be read from now on.
    [[nodiscard]] bool become_read_only() const {
        return mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    }

  private:
    std::string path_;
    std::string why_not_;
};

}  // namespace halcyon::tests
