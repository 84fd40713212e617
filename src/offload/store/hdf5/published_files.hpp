#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "offload/store/hdf5/published_file.hpp"
#include "offload/store/hdf5/view_temporary.hpp"

namespace halcyon::offload::hdf5 {

/// The published files of a directory, each read once. A look at the directory lists it, and asks the file system about
/// what is new alone and about a few of the others, in turn: with thousands of files on a parallel file system, asking
/// about each would take longer than all else.
class published_files {
  public:
    published_files(std::string directory, std::string simulation);

    /// What tells one state of a file from another.
    struct file_state {
        uint64_t device = 0, inode = 0;
        int64_t modified_ns = 0, size = 0;
        friend bool operator==(const file_state&, const file_state&) = default;
    };
    struct known_file {
        file_state state;
        std::shared_ptr<const published_file> contents;  ///< null: unreadable in this state
        uint64_t seen = 0;                               ///< number of the look at the directory
    };
    struct news {
        std::vector<std::shared_ptr<const published_file>> added;
        bool other = false;  ///< a file was replaced, removed, became readable or is not
        [[nodiscard]] bool any() const { return other || !added.empty(); }
    };
    enum class look { quick, at_each };
    /// Throws (system) when the directory cannot be listed.
    news update(look how);

    [[nodiscard]] const std::unordered_map<std::string, known_file>& all() const { return files_; }

  private:
    bool is_as_known(const known_file& file, ino_t inode, size_t place) const;
    void look_at(const std::string& name, news& found);
    [[nodiscard]] std::shared_ptr<const published_file> read(const std::string& name, const file_name_parts& parsed);

    std::string directory_, simulation_;
    view_temporaries temporaries_;
    std::unordered_map<std::string, known_file> files_;
    std::map<std::string, std::shared_ptr<const file_layout>> newest_layout_;  ///< by writer
    uint64_t looks_ = 0;
};

}  // namespace halcyon::offload::hdf5
