#include "logfs/background/find_containers.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/marking.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view hidden_prefix = ".halcyon-";
constexpr std::string_view flattened_prefix = ".halcyon-flattened-";

class search {
  public:
    found_containers all(const std::string& root) {
        if (container::is_at(kernel_files(), root))
            found_.paths.push_back(root);
        else
            look_into(root);
        std::sort(found_.paths.begin(), found_.paths.end());
        return std::move(found_);
    }

  private:
    /// What vanishes meanwhile was not there.
    void look_into(const std::string& folder) {
        std::error_code why;
        bool has_leftovers = false;
        for (fs::directory_iterator at(folder, why), end; !why && at != end; at.increment(why)) {
            const std::string name = at->path().filename();
            has_leftovers |= name.starts_with(flattened_prefix);
            std::error_code unknown;
            if (at->is_symlink(unknown) || !at->is_directory(unknown)) continue;
            const std::string path = at->path();
            const bool is_container = marking_of(kernel_files(), AT_FDCWD, path) != marking::none;
            if (name.starts_with(hidden_prefix)) {
                if (is_container) found_.hidden.push_back(path);
            } else if (is_container) {
                found_.paths.push_back(path);
            } else {
                look_into(path);
            }
        }
        if (has_leftovers) found_.folders.push_back(folder);
        if (why && why != std::errc::no_such_file_or_directory) found_.is_whole = false;
    }

    found_containers found_;
};

}  // namespace

found_containers find_containers(const std::string& root) {
    return search().all(root);
}

}  // namespace halcyon::logfs
