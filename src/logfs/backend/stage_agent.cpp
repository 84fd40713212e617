#include "logfs/backend/stage_agent.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "base/detached_program.hpp"
#include "base/fnv.hpp"
#include "calls/backends/mounts.hpp"
#include "calls/state/detached_child.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/own_thread.hpp"
#include "calls/state/standard_error.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/container/directory/staged_data.hpp"

extern char** environ;

namespace halcyon::logfs::stage_agent {
namespace {

namespace direct = calls::direct;

// Of the lock file, as background/watched_job.hpp has them.
constexpr int64_t place_of_agent = 0;
constexpr int64_t place_of_users = 1;
constexpr size_t most_words = 64;
constexpr size_t room_for_words = 8192;
constexpr int64_t longest_start_ns = 10'000'000'000;

constinit settings how{};
constinit std::atomic<bool> is_ensured{false};

/// What the new program gets. A process starts one at a time.
struct program {
    char text[room_for_words];
    size_t used = 0;
    const char* arguments[most_words + 1] = {};
    size_t count = 0;
    const char** environment = nullptr;
    size_t environment_bytes = 0;
    int ready = -1;
    int error = 0;

    /// What does not fit is left out, and the agent says what is missing.
    void add(std::string_view word) {
        if (count == most_words || used + word.size() + 1 > sizeof text) return;
        arguments[count++] = text + used;
        std::memcpy(text + used, word.data(), word.size());
        used += word.size();
        text[used++] = '\0';
    }
    void add_all(const char* list, char between) {
        for (std::string_view rest(list); !rest.empty();) {
            const size_t end = rest.find(between);
            if (end != 0) add(rest.substr(0, end));
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
        }
    }
};
constinit program what{};

void copy_environment() {
    size_t entries = 1;
    for (char** e = environ; e != nullptr && *e != nullptr; ++e) ++entries;
    what.environment_bytes = entries * sizeof(const char*);
    what.environment = static_cast<const char**>(direct_files().take_pages(what.environment_bytes));
    if (what.environment == nullptr) return;
    size_t kept = 0;
    for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
        const std::string_view entry(*e);
        if (!is_variable_of_job(entry) && !entry.starts_with("HALCYON_LAYERS=") && !entry.starts_with("HALCYON_LOG="))
            what.environment[kept++] = *e;
    }
    what.environment[kept] = nullptr;
}

/// In the second child.
void become(void*) {
    what.error = calls::become_detached(what.ready, how.program, what.arguments, what.environment);
}

/// In the first child, which starts the second and ends at once: so that is none of the application's.
void start_second(void*) {
    const int started = calls::start_child(become, nullptr);
    if (started < 0) what.error = -started;
}

void complain(const char* why) {
    char line[1200];
    const int length = snprintf(line, sizeof line,
                                "halcyon: --stage %s: no agent could be started on this node (%.400s): what lies there "
                                "has to be brought by 'halcyon log drain'\n",
                                how.stage, why);
    calls::standard_error::say(line,
                               length < static_cast<int>(sizeof line) ? length : static_cast<int>(sizeof line) - 1);
}

/// Until it says that it is ready, so that it does not begin when this process, and the batch job, have ended.
void hear(int pipe) {
    char answer[1 + longest_reason_to_starter + 1] = {};
    const long got = calls::hear_detached(pipe, monotonic_ns() + longest_start_ns, answer, sizeof answer - 1);
    if (got > 0 && answer[0] == '1') return;
    complain(got > 0             ? answer + 1
             : got == 0          ? "it ended before it was ready"
             : got == -ETIMEDOUT ? "it did not come up in time"
                                 : "it cannot be heard");
}

void start() {
    int ends[2] = {-1, -1};
    if (const long made = direct::call(SYS_pipe2, direct::address(ends), O_CLOEXEC); made != 0)
        return complain(strerrordesc_np(static_cast<int>(-made)));
    what.ready = direct::duplicate_high(ends[1], 16);
    direct::close(ends[1]);
    copy_environment();
    what.error = what.ready < 0 ? -what.ready : what.environment == nullptr ? ENOMEM : 0;
    if (what.error == 0) {
        const int status = calls::run_in_child(start_second, nullptr);
        if (status < 0) what.error = -status;
    }
    if (what.ready >= 0) direct::close(what.ready);
    if (what.environment != nullptr) direct_files().return_pages(what.environment, what.environment_bytes);
    if (what.error != 0)
        complain(strerrordesc_np(what.error));
    else
        hear(ends[0]);
    direct::close(ends[0]);
}

/// `<stage>/halcyon-staged/agent.<user>.<which directories>`
short_name name_of_lock() {
    fnv1a which;
    which.add(how.roots);
    return short_name("agent.").add(static_cast<uint64_t>(direct::call(SYS_geteuid))).add(".").add(which.value());
}

}  // namespace

void configure(const settings& given) {
    how = given;
}

void ensure() {
    if (is_ensured.load(std::memory_order_acquire)) [[likely]]
        return;
    // A child of vfork has descriptors of its own: a lock that it took would go with it.
    if (*how.program == '\0' || calls::backends::shares_memory_with_parent() || is_ensured.exchange(true)) return;
    char lock[longest_stage + 300];
    const short_name name = name_of_lock();
    snprintf(lock, sizeof lock, "%s/%.*s/%s", how.stage, static_cast<int>(stage_folder.size()), stage_folder.data(),
             name.c_str());
    // Never closed: the agent stays for as long as this process or a child of it has it open.
    const int fd = direct_files().open_at(AT_FDCWD, lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (fd < 0) return complain(strerrordesc_np(-fd));
    direct_files().lock_part(fd, place_of_users, 1, false, true);
    // Where an agent runs, it has this one.
    if (direct_files().lock_part(fd, place_of_agent, 1, true, false) == -EAGAIN) return;
    direct_files().unlock_part(fd, place_of_agent, 1);
    what.add(how.program);
    what.add("--detach");
    what.add("--users");
    what.add(lock);
    what.add("--stage");
    what.add(how.stage);
    what.add_all(how.words, ' ');
    what.add_all(how.roots, ':');
    start();
}

}  // namespace halcyon::logfs::stage_agent
