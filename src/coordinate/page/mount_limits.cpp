#include "coordinate/page/mount_limits.hpp"

#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

result<void> check_mounts(const std::vector<std::string>& paths) {
    const auto refuse = [](std::string why) { return failure{error_kind::usage, std::move(why), 0}; };
    if (paths.empty() || paths.size() > process_slot::most_file_systems)
        return refuse(std::to_string(paths.size()) + " coordinated paths; expected from 1 to " +
                      std::to_string(process_slot::most_file_systems));
    for (const std::string& one : paths) {
        if (!one.starts_with('/') || one.find('\n') != std::string::npos)
            return refuse("coordinated path '" + one + "': expected an absolute path without line breaks");
        if (one.size() >= shared_file_system::longest_path)
            return refuse("coordinated path '" + one.substr(0, 40) + "…' has " + std::to_string(one.size()) +
                          " bytes; expected fewer than " + std::to_string(shared_file_system::longest_path));
    }
    return {};
}

}  // namespace halcyon::coordinate
