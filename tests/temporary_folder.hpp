#pragma once

#include <linux/magic.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace halcyon::tests {

/// A folder of its own for a test, gone with it.
class temporary_folder {
  public:
    temporary_folder() : temporary_folder(std::filesystem::temp_directory_path()) {}
    explicit temporary_folder(const std::filesystem::path& below) {
        std::string pattern = (below / "halcyon-test-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp: " + pattern);
        path_ = pattern;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Names of what is in it, sorted.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) list.push_back(entry.path().filename());
        std::sort(list.begin(), list.end());
        return list;
    }

  private:
    std::filesystem::path path_;
};

/// Likewise, in memory if there is room. For tests that store thousands of small files for good, which takes minutes on
/// a disk: what a killed process leaves is the same there.
class memory_folder : public temporary_folder {
  public:
    memory_folder() : temporary_folder(place()) {}

  private:
    static std::filesystem::path place() {
        constexpr const char* memory = "/dev/shm";
        constexpr uint64_t room = uint64_t{1} << 30U;
        struct statfs found {};
        const bool fits = statfs(memory, &found) == 0 && found.f_type == TMPFS_MAGIC &&
                          found.f_bavail * static_cast<uint64_t>(found.f_bsize) >= room;
        return fits ? std::filesystem::path(memory) : std::filesystem::temp_directory_path();
    }
};

}  // namespace halcyon::tests
