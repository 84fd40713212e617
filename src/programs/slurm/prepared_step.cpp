#include "programs/slurm/prepared_step.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>

namespace halcyon::slurm {

namespace {

/// srun waits no longer; the first start of Python on a parallel file system takes seconds.
constexpr std::chrono::seconds patience{60};

/// -1: it cannot be started. `out` becomes its standard output, where that is one. srun blocks signals: the program
/// must not.
pid_t start(const std::string& program, const std::vector<std::string>& arguments, int out) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
    words.push_back(nullptr);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out >= 0 ? out : STDERR_FILENO, STDOUT_FILENO);
    pid_t child = -1;
    const int failed = ::posix_spawnp(&child, program.c_str(), &files, &how, words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return failed == 0 ? child : -1;
}

/// The exit status; -1: none, since it was ended by a signal, or others had waited for it.
int status_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// All until the end of `in`; nullopt: that did not come in time.
std::optional<std::string> read_all(int in) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    std::string all;
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
        pollfd waits{in, POLLIN, 0};
        if (left.count() <= 0) return std::nullopt;
        if (::poll(&waits, 1, static_cast<int>(left.count())) <= 0) continue;
        char some[4096];
        const ssize_t bytes = ::read(in, some, sizeof some);
        if (bytes == 0) return all;
        if (bytes < 0 && errno != EINTR) return std::nullopt;
        if (bytes > 0) all.append(some, static_cast<size_t>(bytes));
    }
}

/// The folder, then `NAME=VALUE`, each ended by a zero byte.
std::optional<prepared_step> parse(std::string_view answer) {
    prepared_step step;
    bool is_first = true;
    while (!answer.empty()) {
        const size_t length = answer.find('\0');
        if (length == std::string_view::npos) return std::nullopt;
        const std::string_view entry = answer.substr(0, length);
        answer.remove_prefix(length + 1);
        const size_t equals = entry.find('=');
        if (std::exchange(is_first, false))
            step.folder = entry;
        else if (equals != std::string_view::npos)
            step.variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
    if (step.folder.empty()) return std::nullopt;
    return step;
}

}  // namespace

std::optional<prepared_step> prepare_step(const std::string& program, const std::vector<std::string>& arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    const pid_t child = start(program, arguments, ends[1]);
    ::close(ends[1]);
    const auto answer = child > 0 ? read_all(ends[0]) : std::nullopt;
    ::close(ends[0]);
    if (child > 0 && !answer) ::kill(child, SIGKILL);
    const bool done = child > 0 && status_of(child) == 0;
    return done && answer ? parse(*answer) : std::nullopt;
}

void run_program(const std::string& program, const std::vector<std::string>& arguments) {
    const pid_t child = start(program, arguments, -1);
    if (child > 0) status_of(child);
}

}  // namespace halcyon::slurm
