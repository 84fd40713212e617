#include "calls/state/task_prolog.hpp"

#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

/// The process that becomes the task starts it before that, as the program of Slurm that it still is.
bool is_task_prolog() {
    const char* const task = getenv("SLURM_TASK_PID");
    const int parent = direct::parent_process_id();
    if (task == nullptr || strtol(task, nullptr, 10) != parent) return false;
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/comm", parent);
    const int fd = direct::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char name[16];
    const ssize_t bytes = direct::read(fd, name, sizeof name);
    direct::close(fd);
    return bytes > 0 && std::string_view(name, static_cast<size_t>(bytes)).starts_with("slurmstepd");
}

}  // namespace halcyon::calls
