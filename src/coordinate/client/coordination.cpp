#include "coordinate/client/coordination.hpp"

#include <filesystem>

#include "base/detached_start.hpp"
#include "coordinate/configuration/coordinators.hpp"
#include "coordinate/page/mount_limits.hpp"

namespace halcyon::coordinate {
namespace fs = std::filesystem;

namespace {

constexpr const char* file_of_machine = "/etc/halcyon/coordinators.yaml";

/// Coordinators name paths as they like; files are known by where they are.
std::string real_path(const std::string& path) {
    std::error_code none;
    const fs::path found = fs::weakly_canonical(path, none);
    return none ? path : found.string();
}

result<coordination> read_file(const std::string& path) {
    const auto known = read_coordinators(path);
    if (!known) return known.why();
    coordination found;
    std::vector<std::string> roots;
    for (const coordinator_entry& one : known->entries) {
        for (const std::string& named : one.paths) {
            const std::string& root = roots.emplace_back(real_path(named));
            found.mounts += root + "=" + one.reached_at() + "\n";
            if (!one.reached.munge_socket.empty()) found.munge_sockets += root + "=" + one.reached.munge_socket + "\n";
        }
    }
    if (const auto fits = check_mounts(roots); !roots.empty() && !fits)
        return failure{error_kind::config, path + ": " + fits.why().message, 0};
    return found;
}

}  // namespace

result<coordination> find_coordination(const std::string& config) {
    coordination found;
    found.mounts = variable_or_nothing("HALCYON_COORDINATORS");
    found.munge_sockets = variable_or_nothing("HALCYON_MUNGE_SOCKETS");
    if (!found.mounts.empty()) return found;
    const std::string named = config.empty() ? variable_or_nothing("HALCYON_COORDINATORS_FILE") : config;
    if (!named.empty()) return read_file(named);
    std::error_code none;
    if (!fs::exists(file_of_machine, none)) {
        found.why = std::string("no coordinator is known: there is no ") + file_of_machine +
                    ", HALCYON_COORDINATORS_FILE is not set, and no file was given";
        return found;
    }
    auto of_machine = read_file(file_of_machine);
    if (of_machine) return of_machine;
    found.why = of_machine.why().message;
    return found;
}

}  // namespace halcyon::coordinate
