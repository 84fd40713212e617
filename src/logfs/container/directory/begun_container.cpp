#include "logfs/container/directory/begun_container.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string_view>

#include "base/clock.hpp"
#include "logfs/container/directory/marking.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t most_ns = 5'000'000'000;  // others' calls may wait behind much data
constexpr int64_t first_pause_ns = 1'000'000, longest_pause_ns = 50'000'000;
constexpr int64_t most_age_s = 60;  // clocks of hosts differ by less

bool may_be_begun(file_calls& calls, int directory) {
    bool has_text = false;
    memory_source memory(calls);
    const int listed = names_in(calls, memory, directory, ".", [&](std::string_view name) {
        struct stat there {};
        const bool is_marker = name == marker_name && calls.status_at(directory, marker_name.data(), there) == 0;
        has_text = !is_marker || !S_ISREG(there.st_mode) || there.st_size > 0;
        return has_text ? 1 : 0;
    });
    return listed == 0;
}

}  // namespace

bool becomes_container(file_calls& calls, int directory, const char* folder) {
    const int fd = calls.open_at(directory, folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return false;
    bool is_container = false;
    if (!has_whole_renames(calls.file_system(fd))) {
        int64_t waited_ns = 0;
        for (int64_t pause_ns = first_pause_ns;; pause_ns = std::min(2 * pause_ns, longest_pause_ns)) {
            // Looked at before its marker is: a marker that comes in between is seen.
            const bool may_wait = may_be_begun(calls, fd) && waited_ns < most_ns;
            is_container = marking_of(calls, fd, ".") != marking::none;
            if (is_container || !may_wait) break;
            calls.pause(pause_ns);
            waited_ns += pause_ns;
        }
    }
    calls.close(fd);
    return is_container;
}

bool becomes_container(file_calls& calls, int directory, const char* folder, const struct stat& there) {
    const int64_t age_s = realtime_ns() / 1'000'000'000 - there.st_ctim.tv_sec;
    return S_ISDIR(there.st_mode) && (there.st_mode & begun_mode) != 0 && age_s < most_age_s &&
           becomes_container(calls, directory, folder);
}

}  // namespace halcyon::logfs
