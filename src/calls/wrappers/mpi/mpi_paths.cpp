#include "calls/wrappers/mpi/mpi_paths.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <string_view>

#include "calls/backends/mounted_path.hpp"
#include "calls/state/given_memory.hpp"
#include "calls/state/standard_error.hpp"

namespace halcyon::calls::mpi {
namespace {

constexpr std::string_view own_prefix = "halcyon:";
constexpr std::string_view prefixes[] = {
    own_prefix, "ufs:",    "nfs:",  "xfs:",   "lustre:", "gpfs:", "panfs:",     "pvfs:",
    "pvfs2:",   "zoidfs:", "daos:", "gfarm:", "testfs:", "bgl:",  "bglockless:"};

std::string_view beginning_of(const char* path) {
    constexpr size_t longest_prefix = 16;
    const size_t length = given::length_of_text(path, longest_prefix);
    return length == given::unreadable ? std::string_view() : std::string_view(path, length);
}

/// Whatever is there.
bool lies_below_backend(const char* path) {
    if (!backends::present()) return false;
    backends::mounted_path at;
    static_cast<void>(at.find(AT_FDCWD, path));
    const auto mounts = backends::mounted();
    return std::any_of(mounts.begin(), mounts.end(), [&](const auto& each) { return at.lies_in(*each.of); });
}

}  // namespace

const char* without_prefix(const char* path) {
    const std::string_view beginning = beginning_of(path);
    for (const std::string_view prefix : prefixes) {
        if (beginning.starts_with(prefix)) return path + prefix.size();
    }
    return path;
}

library_path::library_path(const char* given, backends::last_link last) : path_(given) {
    if (!backends::present() && !beginning_of(given).starts_with(own_prefix)) return;
    const bool is_in_mount = lies_below_backend(without_prefix(given)) || follow(last);
    if (!beginning_of(given).starts_with(own_prefix)) return;
    if (is_in_mount) {
        path_ += own_prefix.size();
        return;
    }
    char line[PATH_MAX + 100];
    const int length = snprintf(line, sizeof line, "halcyon: %s: it lies below no directory of --log\n", given);
    const bool fits = length < static_cast<int>(sizeof line);
    standard_error::say(line, fits ? length : static_cast<int>(sizeof line) - 1);
}

/// Whether links lead into a mount. The prefix stays before the path to there.
bool library_path::follow(backends::last_link last) {
    const char* const path = without_prefix(path_);
    const auto prefix = static_cast<size_t>(path - path_);
    if (!backends::present() || prefix > room_for_prefix || given::length_of_text(path, PATH_MAX) >= PATH_MAX)
        return false;
    char* const to = followed_ + prefix;
    if (backends::follow_links(path, last, to) == 0 || !lies_below_backend(to)) return false;
    std::memcpy(followed_, path_, prefix);
    path_ = followed_;
    return true;
}

}  // namespace halcyon::calls::mpi
