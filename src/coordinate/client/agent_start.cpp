#include "coordinate/client/agent_start.hpp"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/clock.hpp"
#include "base/detached_program.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/own_thread.hpp"
#include "coordinate/client/page_access.hpp"

// base/detached_start.hpp does the same for programs that know of Halcyon. Here nothing may be allocated by the
// application's malloc, no call may pass its wrappers, and no child may be there that its wait() would find: so the
// agent is a grandchild, made by direct system calls.
namespace halcyon::coordinate::page_access {
namespace direct = calls::direct;

namespace {

constexpr size_t most_variables = 2048, longest_variable = 4200;

bool stays_behind(std::string_view entry) {
    return is_variable_of_job(entry) || entry.starts_with("HALCYON_LAYERS=") || entry.starts_with("HALCYON_AGENT_");
}

/// What the new program gets. One process starts an agent at a time, and a process one.
struct program {
    const char* path;
    const char* arguments[2];
    const char* environment[most_variables + 1];
    char own[7][longest_variable];
    int ready;         ///< end of the pipe
    const char* step;  ///< that failed; null: none
    int error;         ///< its errno
    char why[800];

    void describe(const settings& wanted);
};
program what;

void program::describe(const settings& wanted) {
    path = wanted.agent;
    arguments[0] = wanted.agent;
    arguments[1] = nullptr;
    step = nullptr;
    size_t count = 0;
    const job_identity& job = wanted.job;
    snprintf(own[count++], longest_variable, "HALCYON_AGENT_JOB=%s", job.name);
    snprintf(own[count++], longest_variable, "HALCYON_AGENT_SECRET=%s", job.secret);
    snprintf(own[count++], longest_variable, "HALCYON_AGENT_PROCESSES=%lld", static_cast<long long>(job.processes));
    snprintf(own[count++], longest_variable, "HALCYON_AGENT_NODES=%lld", static_cast<long long>(job.nodes));
    snprintf(own[count++], longest_variable, "HALCYON_COORDINATORS=%s", wanted.mounts);
    snprintf(own[count++], longest_variable, "HALCYON_TRACE_DIR=%s", wanted.facts);
    const bool has_sockets = *wanted.munge_sockets != '\0';
    if (has_sockets) snprintf(own[count++], longest_variable, "HALCYON_MUNGE_SOCKETS=%s", wanted.munge_sockets);
    for (size_t i = 0; i < count; ++i) environment[i] = own[i];
    for (char** e = environ; e != nullptr && *e != nullptr && count < most_variables; ++e) {
        const std::string_view entry(*e);
        const bool given = entry.starts_with("HALCYON_COORDINATORS=") || entry.starts_with("HALCYON_TRACE_DIR=") ||
                           (has_sockets && entry.starts_with("HALCYON_MUNGE_SOCKETS="));
        if (!given && !stays_behind(entry)) environment[count++] = *e;
    }
    environment[count] = nullptr;
}

/// In the second child, which becomes the agent.
void become(void*) {
    direct::call(SYS_setsid);
    for (int fd = 0; fd <= 2; ++fd) {
        const int opened = direct::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        if (opened >= 0 && opened != fd) {
            direct::call(SYS_dup3, opened, fd, 0);
            direct::close(opened);
        }
    }
    direct::call(SYS_dup3, what.ready, ready_descriptor, 0);
    direct::call(SYS_close_range, ready_descriptor + 1, ~0U, 0);
    const uint64_t none = 0;
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&none), 0, sizeof none);
    const long result = direct::call(SYS_execve, direct::address(what.path), direct::address(what.arguments),
                                     direct::address(what.environment));
    what.step = "HALCYON_AGENT";
    what.error = static_cast<int>(-result);
}

/// In the first child, which starts the second and ends at once: so that is none of the application's.
void start_second(void*) {
    const int started = calls::start_child(become, nullptr);
    if (started >= 0) return;
    what.step = "a process for it";
    what.error = -started;
}

/// Why no program was started, or null.
const char* why_not_started() {
    if (what.step == nullptr) return nullptr;
    snprintf(what.why, sizeof what.why, "the agent cannot be started: %s: %.400s: %s", what.step, what.path,
             strerrordesc_np(what.error));
    return what.why;
}

/// What the agent says by the pipe: null, it is ready; or why it is not.
const char* hear(int pipe, int64_t until_ns) {
    char answer[1 + longest_reason_to_starter + 1] = {};
    long got = -EINTR;
    while (got == -EINTR) {
        const int64_t left = std::max<int64_t>(until_ns - monotonic_ns(), 0);
        const timespec limit{left / 1'000'000'000, left % 1'000'000'000};
        pollfd waits{pipe, POLLIN, 0};
        got = direct::call(SYS_ppoll, direct::address(&waits), 1, direct::address(&limit), 0, 0);
        if (got > 0)
            got = direct::read(pipe, answer, sizeof answer - 1);
        else if (got == 0)
            got = -ETIMEDOUT;
    }
    if (got > 0 && answer[0] == '1') return nullptr;
    if (got > 0)
        snprintf(what.why, sizeof what.why, "the agent cannot run: %s", answer + 1);
    else if (got == 0)
        snprintf(what.why, sizeof what.why,
                 "the agent %.400s ended before it was ready: does HALCYON_AGENT name halcyon-agent, and does `ldd` of "
                 "it find all libraries?",
                 what.path);
    else
        snprintf(what.why, sizeof what.why, "the agent %.400s did not come up in time", what.path);
    return what.why;
}

}  // namespace

const char* start_agent(const settings& wanted, int64_t until_ns) {
    if (*wanted.agent == '\0') return "HALCYON_AGENT is not set: no agent can be started";
    what.describe(wanted);
    int ends[2] = {-1, -1};
    if (const long made = direct::call(SYS_pipe2, direct::address(ends), O_CLOEXEC); made != 0) {
        what.step = "a pipe for its answer";
        what.error = static_cast<int>(-made);
        return why_not_started();
    }
    what.ready = direct::duplicate_high(ends[1], 16);
    direct::close(ends[1]);
    if (what.ready < 0) {
        what.step = "a pipe for its answer";
        what.error = -what.ready;
    } else {
        const int status = calls::run_in_child(start_second, nullptr);
        direct::close(what.ready);
        if (status < 0) {
            what.step = "a process for it";
            what.error = -status;
        }
    }
    const char* const why = what.step != nullptr ? why_not_started() : hear(ends[0], until_ns);
    direct::close(ends[0]);
    return why;
}

}  // namespace halcyon::coordinate::page_access
