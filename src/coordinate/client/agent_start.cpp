#include "coordinate/client/agent_start.hpp"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/detached_program.hpp"
#include "calls/state/detached_child.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/own_thread.hpp"
#include "coordinate/client/page_access.hpp"

namespace halcyon::coordinate::page_access {
namespace direct = calls::direct;

namespace {

bool stays_behind(std::string_view entry) {
    return is_variable_of_job(entry) || entry.starts_with("HALCYON_LAYERS=") || entry.starts_with("HALCYON_AGENT_");
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

/// "NAME=value" for the agent, in place of what the environment says.
struct given_variable {
    const char* name;
    const char* value;
};

/// The agent's environment, in memory of our own.
class agent_environment {
  public:
    explicit agent_environment(const settings& wanted);
    ~agent_environment() {
        if (entries_ != nullptr) direct::call(SYS_munmap, direct::address(entries_), static_cast<long>(bytes_));
    }
    agent_environment(const agent_environment&) = delete;
    agent_environment& operator=(const agent_environment&) = delete;

    /// Null: there is no memory of `bytes()`.
    [[nodiscard]] const char** entries() const { return entries_; }
    [[nodiscard]] size_t bytes() const { return bytes_; }
    /// Where it is too long for the system, most likely for this one.
    [[nodiscard]] std::string_view longest() const { return longest_; }

  private:
    void add(const char* entry) {
        entries_[count_++] = entry;
        if (std::string_view(entry).size() > longest_.size()) longest_ = entry;
    }

    const char** entries_ = nullptr;
    size_t bytes_ = 0, count_ = 0;
    std::string_view longest_;
};

agent_environment::agent_environment(const settings& wanted) {
    const job_identity& job = wanted.job;
    char processes[24], nodes[24];
    snprintf(processes, sizeof processes, "%lld", static_cast<long long>(job.processes));
    snprintf(nodes, sizeof nodes, "%lld", static_cast<long long>(job.nodes));
    const given_variable always[] = {{"HALCYON_AGENT_JOB", job.name},         {"HALCYON_AGENT_SECRET", job.secret},
                                     {"HALCYON_AGENT_PROCESSES", processes},  {"HALCYON_AGENT_NODES", nodes},
                                     {"HALCYON_COORDINATORS", wanted.mounts}, {"HALCYON_TRACE_DIR", wanted.facts}};
    const given_variable where_set[] = {
        {"HALCYON_MUNGE_SOCKETS", wanted.munge_sockets},     {"HALCYON_ACCOUNT", wanted.account},
        {"HALCYON_COORDINATE_PATIENCE_MS", wanted.patience}, {"HALCYON_COORDINATE_STARVATION_MS", wanted.starvation},
        {"HALCYON_COORDINATE_PAUSE_MS", wanted.pause},       {"HALCYON_COORDINATE_BEHIND_MS", wanted.behind}};
    const auto is_given = [&](std::string_view name) {
        for (const given_variable& one : always)
            if (name == one.name) return true;
        for (const given_variable& one : where_set)
            if (name == one.name && *one.value != '\0') return true;
        return false;
    };
    size_t most = 1, text_bytes = 0;
    const auto make_room = [&](const given_variable& one) {
        ++most;
        text_bytes += strlen(one.name) + strlen(one.value) + 2;
    };
    for (const given_variable& one : always) make_room(one);
    for (const given_variable& one : where_set) make_room(one);
    for (char** e = environ; e != nullptr && *e != nullptr; ++e) ++most;
    bytes_ = most * sizeof(const char*) + text_bytes;
    entries_ = static_cast<const char**>(direct::map_memory(bytes_));
    if (entries_ == nullptr) return;
    char* at = reinterpret_cast<char*>(entries_ + most);
    const auto write = [&](const given_variable& one) {
        const char* const begin = at;
        at += snprintf(at, strlen(one.name) + strlen(one.value) + 2, "%s=%s", one.name, one.value) + 1;
        add(begin);
    };
    for (const given_variable& one : always) write(one);
    for (const given_variable& one : where_set)
        if (*one.value != '\0') write(one);
    for (char** e = environ; e != nullptr && *e != nullptr; ++e)
        if (!stays_behind(*e) && !is_given(name_of(*e))) add(*e);
    entries_[count_] = nullptr;
}

/// What the new program gets. One process starts an agent at a time, and a process one.
struct program {
    const char* path;
    const char* arguments[2];
    const char** environment;
    int ready;         ///< end of the pipe
    const char* step;  ///< that failed; null: none
    int error;         ///< its errno
    char why[800];
};
program what;

/// In the second child.
void become(void*) {
    what.error = calls::become_detached(what.ready, what.path, what.arguments, what.environment);
    what.step = "HALCYON_AGENT";
}

/// In the first child, which starts the second and ends at once: so that is none of the application's.
void start_second(void*) {
    const int started = calls::start_child(become, nullptr);
    if (started >= 0) return;
    what.step = "a process for it";
    what.error = -started;
}

/// Why no program was started, or null.
const char* why_not_started(const agent_environment& environment) {
    if (what.step == nullptr) return nullptr;
    const int used = snprintf(what.why, sizeof what.why, "the agent cannot be started: %s: %.400s: %s", what.step,
                              what.path, strerrordesc_np(what.error));
    const std::string_view longest = name_of(environment.longest());
    if (what.error == E2BIG && used > 0 && static_cast<size_t>(used) < sizeof what.why)
        snprintf(what.why + used, sizeof what.why - static_cast<size_t>(used),
                 "; the longest variable is %.*s, of %zu bytes", static_cast<int>(std::min<size_t>(longest.size(), 60)),
                 longest.data(), environment.longest().size());
    return what.why;
}

/// What the agent says by the pipe: null, it is ready; or why it is not.
const char* hear(int pipe, int64_t until_ns) {
    char answer[1 + longest_reason_to_starter + 1] = {};
    const long got = calls::hear_detached(pipe, until_ns, answer, sizeof answer - 1);
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
    const agent_environment environment(wanted);
    what = {wanted.agent, {wanted.agent, nullptr}, environment.entries(), -1, nullptr, 0, {}};
    if (what.environment == nullptr) {
        snprintf(what.why, sizeof what.why, "the agent cannot be started: no memory for its environment of %zu bytes",
                 environment.bytes());
        return what.why;
    }
    int ends[2] = {-1, -1};
    if (const long made = direct::call(SYS_pipe2, direct::address(ends), O_CLOEXEC); made != 0) {
        what.step = "a pipe for its answer";
        what.error = static_cast<int>(-made);
        return why_not_started(environment);
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
    const char* const why = what.step != nullptr ? why_not_started(environment) : hear(ends[0], until_ns);
    direct::close(ends[0]);
    return why;
}

}  // namespace halcyon::coordinate::page_access
