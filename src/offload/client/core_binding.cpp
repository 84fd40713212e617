#include "offload/client/core_binding.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace halcyon::offload {

std::string bound_cores() {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return "";
    if (CPU_COUNT(&mine) >= ::sysconf(_SC_NPROCESSORS_ONLN)) return "";
    std::string list;
    for (int c = 0; c < CPU_SETSIZE; ++c) {
        if (!CPU_ISSET(c, &mine)) continue;
        int last = c;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mine)) ++last;
        list += (list.empty() ? "" : ",") + std::to_string(c) + (last > c ? "-" + std::to_string(last) : "");
        c = last;
    }
    return list;
}

bool share_one_set(const std::vector<std::string>& client_cores) {
    return client_cores.size() > 1 && !client_cores.front().empty() &&
           std::all_of(client_cores.begin(), client_cores.end(),
                       [&](const std::string& cores) { return cores == client_cores.front(); });
}

int cores_left(const std::vector<std::string>& client_cores) {
    const auto cores = static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    std::set<long> used;
    for (const std::string& list : client_cores) {
        if (list.empty()) return static_cast<int>(cores - std::min(cores, client_cores.size()));
        std::istringstream ranges(list);
        for (std::string range; std::getline(ranges, range, ',');) {
            const size_t dash = range.find('-');
            const long first = std::strtol(range.c_str(), nullptr, 10);
            const long last = dash == std::string::npos ? first : std::strtol(range.c_str() + dash + 1, nullptr, 10);
            for (long core = first; core <= last; ++core) used.insert(core);
        }
    }
    if (share_one_set(client_cores)) return static_cast<int>(used.size() - std::min(used.size(), client_cores.size()));
    return static_cast<int>(cores - std::min(cores, used.size()));
}

}  // namespace halcyon::offload
