#include "base/detached_start.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/descriptor.hpp"

extern char** environ;

namespace halcyon {
namespace {

namespace fs = std::filesystem;

/// What became of a program that is not ready. `said`: bytes that came from it, or -1, and `reason` behind the mark;
/// `status`: of what was spawned, as waitpid() gives it.
failure why_not_up(const std::string& program, ssize_t said, const std::string& reason, int status, int patience_ms) {
    const auto failed = [&program](const std::string& how, int why) {
        return failure{error_kind::unavailable, program + how, why};
    };
    if (said > 0) return failed(" cannot run: " + reason, 0);
    if (said < 0) return failed(" did not come up within " + std::to_string(patience_ms) + " ms", ETIMEDOUT);
    if (WIFSIGNALED(status))
        return failed(" was ended by signal " + std::to_string(WTERMSIG(status)) + " before it listened", ECONNRESET);
    // The loader's exit code, and it says why on an output that the server does not have.
    if (WEXITSTATUS(status) == 127)
        return failed(" cannot be loaded: `ldd` of it names the library that is missing", 0);
    // What was spawned has forked the server.
    if (WEXITSTATUS(status) == 0) return failed(" was ended before it listened", ECONNRESET);
    return failed(" ended with exit code " + std::to_string(WEXITSTATUS(status)) + " before it listened", 0);
}

/// Undoes the parts of a posix_spawn.
struct spawn_settings {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    spawn_settings() {
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
    }
    spawn_settings(const spawn_settings&) = delete;
    spawn_settings& operator=(const spawn_settings&) = delete;
    ~spawn_settings() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
};

}  // namespace

std::string variable_or_nothing(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<std::string> environment_outside_job() {
    std::vector<std::string> found;
    for (char** e = environ; *e != nullptr; ++e)
        if (!is_variable_of_job(*e)) found.emplace_back(*e);
    return found;
}

result<std::string> find_installed(const std::string& program, const std::string& named, const void* within) {
    std::vector<std::string> places;
    Dl_info about{};
    if (!named.empty()) {
        places.push_back(named);
    } else if (::dladdr(within, &about) != 0 && about.dli_fname != nullptr) {
        std::error_code none;
        const fs::path here = fs::canonical(about.dli_fname, none).parent_path();
        places.push_back((here / program).string());
        places.push_back((here / ".." / "bin" / program).lexically_normal().string());
        // <prefix>/lib/<architecture>, as Debian lays it out
        places.push_back((here / ".." / ".." / "bin" / program).lexically_normal().string());
    }
    std::string list;
    for (const std::string& p : places) {
        if (::access(p.c_str(), X_OK) == 0) return p;
        list += (list.empty() ? "" : ", ") + p;
    }
    return failure{error_kind::unavailable, list, 0};
}

result<void> start_detached(const detached_program& what, int patience_ms, int stop) {
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) return system_failure("pipe", errno);
    descriptor read_end(ready[0]), write_end(ready[1]);
    // dup2 onto itself would keep close-on-exec: make sure the source is not descriptor 3.
    descriptor source(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, 10));
    if (!source) return system_failure("fcntl", errno);
    write_end.reset();

    spawn_settings how;
    for (int fd = 0; fd <= 2; ++fd)
        ::posix_spawn_file_actions_addopen(&how.files, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&how.files, source.get(), ready_descriptor);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&how.attributes, &none);
    ::posix_spawnattr_setsigdefault(&how.attributes, &all);
    ::posix_spawnattr_setflags(&how.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);

    std::vector<char*> arguments{const_cast<char*>(what.path.c_str())};
    for (const std::string& a : what.arguments) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> environment_pointers;
    for (const std::string& e : what.environment) environment_pointers.push_back(const_cast<char*>(e.c_str()));
    environment_pointers.push_back(nullptr);
    pid_t pid = 0;
    const int why = ::posix_spawn(&pid, what.path.c_str(), &how.files, &how.attributes, arguments.data(),
                                  environment_pointers.data());
    source.reset();
    if (why != 0) {
        failure f = system_failure("start of " + what.path, why);
        f.kind = error_kind::unavailable;
        return f;
    }
    // What was spawned forks the server and ends at once, so that the simulation has no child to reap later.
    pollfd waits[] = {{read_end.get(), POLLIN, 0}, {stop, POLLIN, 0}};
    int polled = 0;
    do polled = ::poll(waits, 2, patience_ms);
    while (polled < 0 && errno == EINTR);
    std::array<char, 1 + longest_reason_to_starter> answer{};
    const ssize_t said =
        polled > 0 && waits[0].revents != 0 ? ::read(read_end.get(), answer.data(), answer.size()) : -1;
    const bool up = said > 0 && answer[0] == '1';
    // Whatever it is that was named, it does not stay behind.
    if (!up) ::kill(-pid, SIGKILL);
    int status = 0;
    // End of file without a word: it ended, or is about to.
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (up) return {};
    const std::string reason(answer.data() + 1, static_cast<size_t>(std::max<ssize_t>(said - 1, 0)));
    return why_not_up(what.path, said, reason, status, patience_ms);
}

void detach_from_starter(const char* name) {
    // Descriptors would keep launchers waiting.
    ::syscall(SYS_close_range, ready_descriptor + 1, ~0U, 0);
    const pid_t child = ::fork();
    if (child < 0) tell_starter(system_failure("fork", errno));
    if (child != 0) ::_exit(child > 0 ? 0 : 1);
    ::setsid();
    if (::chdir("/") != 0) {
        tell_starter(system_failure("/", errno));
        ::_exit(1);
    }
    // A terminal's or batch system's hang-up and interrupt are meant for the job: who stays ends by itself when the job
    // is over. A file that may not grow is an error of that file.
    for (const int s : {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(s, SIG_IGN);
    // Descriptors for each client: the usual limit is meant for other programs.
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    ::prctl(PR_SET_NAME, name);
}

bool tell_starter(const result<void>& is_ready) {
    const std::string text = is_ready ? "1" : "0" + is_ready.why().message.substr(0, longest_reason_to_starter);
    const bool told = ::write(ready_descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(ready_descriptor);
    return told;
}

}  // namespace halcyon
