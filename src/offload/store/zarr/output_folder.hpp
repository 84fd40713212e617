#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halcyon::offload::zarr {

/// A folder on its way: filled under a temporary name, published by rename, removed with all that is in it when it is
/// given up. All paths of files and folders in it are relative to it; every function throws (system).
class output_folder {
  public:
    enum class durability { as_it_comes, synced };

    /// Makes the folder `temporary`; what a killed process left there is removed.
    output_folder(std::string temporary, durability how);
    ~output_folder();
    output_folder(const output_folder&) = delete;
    output_folder& operator=(const output_folder&) = delete;

    /// A folder that is not there yet.
    void add_folder(const std::string& path);
    /// A file that is not there yet, whole.
    void add_file(const std::string& path, std::span<const std::byte> bytes);

    /// Syncs folders (files are by now) where asked, and renames everything to `path`, where another folder of this
    /// kind is replaced. Returns the size of all files in bytes.
    int64_t publish(const std::string& path);

  private:
    std::string temporary_;
    durability how_;
    bool published_ = false;
    std::vector<std::string> folders_;  ///< parents before their children
    int64_t bytes_ = 0;
};

}  // namespace halcyon::offload::zarr
