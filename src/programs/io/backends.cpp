// The file backends of libhalcyon-io: logs, below each directory that HALCYON_LOG names.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "calls/backends/mounts.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/standard_error.hpp"
#include "calls/state/task_prolog.hpp"
#include "logfs/backend/log_backend.hpp"
#include "programs/io/kept_settings.hpp"

namespace halcyon {
namespace {

constinit logfs::log_backend logs[calls::backends::most_mounts];
constinit int log_count = 0;

void complain(const char* path, const char* why) {
    char line[PATH_MAX + 160];
    const int length = snprintf(line, sizeof line, "halcyon: --log %s: %s; files there are the kernel's\n", path, why);
    const bool fits = length < static_cast<int>(sizeof line);
    calls::standard_error::say(line, fits ? length : static_cast<int>(sizeof line) - 1);
}

bool is_mounted(std::string_view prefix) {
    for (const calls::backends::mount_point& at : calls::backends::mounted())
        if (prefix == std::string_view(at.prefix, at.length)) return true;
    return false;
}

void mount_log(const char* directory, std::string_view prefix) {
    if (is_mounted(prefix)) return;
    if (log_count == calls::backends::most_mounts) return complain(directory, "too many directories");
    logfs::log_backend& files = logs[log_count];
    if (const int failed = files.start(directory); failed != 0)
        return complain(directory,
                        failed == -ENOTDIR ? "it is no directory, or lies in a log container" : strerror(-failed));
    ++log_count;
    if (!calls::backends::mount(files, prefix)) complain(directory, "it cannot be answered for");
}

int rank_of_process() {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
        if (const char* const value = getenv(name); value != nullptr && *value != '\0') return atoi(value);
    return -1;
}

}  // namespace

namespace calls {

/// Paths are answered as they are given, and without their links.
void backends::start_backends() {
    kept_settings::remember();
    if (is_task_prolog()) return;
    const char* list = kept_settings::value_of("HALCYON_LOG");
    if (*list == '\0') return;
    logfs::backend_settings how;
    how.rank = rank_of_process();
    how.staging = {kept_settings::value_of("HALCYON_LOG_AGENT"), kept_settings::value_of("HALCYON_LOG_AGENT_WORDS"),
                   kept_settings::value_of("HALCYON_LOG_STAGE"), list};
    how.backends = kept_settings::value_of("HALCYON_LOG_BACKENDS");
    how.index_folder = kept_settings::value_of("HALCYON_LOG_INDEXES");
    how.most_mapped_bytes = atoll(kept_settings::value_of("HALCYON_LOG_MAPPED"));
    how.has_logs_of_nodes = std::string_view(kept_settings::value_of("HALCYON_LOG_PER")) == "node";
    how.has_data_checks = *kept_settings::value_of("HALCYON_LOG_CHECKS") != '\0';
    logfs::start_backends(how);
    while (*list != '\0') {
        const size_t length = std::strcspn(list, ":");
        char given[PATH_MAX];
        if (length > 1 && length < sizeof given) {
            std::memcpy(given, list, length);
            given[length] = '\0';
            const int before = log_count;
            mount_log(given, {given, length});
            if (log_count > before) {
                const std::string_view resolved = logs[before].root();
                mount_log(given, resolved);
            }
        }
        list += length + (list[length] == ':' ? 1 : 0);
    }
}

}  // namespace calls
}  // namespace halcyon
