#include "base/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace halcyon {
namespace {

// Paths are texts here: where memory is short, which is when one asks, fs::path of libstdc++ 12 destroys what it failed
// to make.
constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

std::optional<uint64_t> number_in(const std::string& file) {
    std::ifstream in(file);
    uint64_t value = 0;
    if (in >> value) return value;  // "max" is no number: no limit
    return std::nullopt;
}

/// A value of a file of lines "name value", as memory.stat.
uint64_t named_number(const std::string& file, const std::string& wanted) {
    std::ifstream in(file);
    std::string name;
    uint64_t value = 0;
    while (in >> name >> value)
        if (name == wanted) return value;
    return 0;
}

/// What a group ("/a/b", "/") and those above it leave. Page cache that the group can drop counts as free.
uint64_t left_in_group(const std::string& root, std::string group, const char* limit, const char* usage,
                       const char* cache) {
    uint64_t left = unlimited;
    while (true) {
        while (!group.empty() && group.back() == '/') group.pop_back();
        const std::string folder = root + group + "/";
        const auto most = number_in(folder + limit);
        const auto used = number_in(folder + usage);
        if (most && used) {
            const uint64_t dropped = std::min(*used, named_number(folder + "memory.stat", cache));
            const uint64_t held = *used - dropped;
            left = std::min(left, *most > held ? *most - held : 0);
        }
        if (group.empty()) return left;
        group.resize(group.rfind('/') + 1);
    }
}

uint64_t left_in_groups() {
    std::ifstream groups("/proc/self/cgroup");
    uint64_t left = unlimited;
    for (std::string line; std::getline(groups, line);) {
        const size_t first = line.find(':');
        const size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string group = line.substr(second + 1);
        if (controllers.empty()) {
            for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
                left = std::min(left, left_in_group(root, group, "memory.max", "memory.current", "inactive_file"));
        } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
            left = std::min(left, left_in_group("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                                "memory.usage_in_bytes", "total_inactive_file"));
        }
    }
    return left;
}

}  // namespace

uint64_t available_memory() {
    uint64_t available = unlimited;
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        std::istringstream words(line);
        std::string name;
        uint64_t kib = 0;
        if (words >> name >> kib && name == "MemAvailable:") available = kib * 1024;
    }
    return std::min(available, left_in_groups());
}

}  // namespace halcyon
