#pragma once

#include <grp.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace halcyon::tests {

constexpr uid_t nobody = 65534;

/// A process that runs `work` and exits with its result; killed with this, if it has not ended.
class child_process {
  public:
    template <class Work>
    explicit child_process(const Work& work) : pid_(::fork()) {
        if (pid_ == 0) ::_exit(work());
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process() {
        if (pid_ > 0) kill(SIGKILL);
    }

    [[nodiscard]] pid_t pid() const { return pid_; }
    void kill(int signal) {
        ::kill(pid_, signal);
        static_cast<void>(exit_status());
    }
    /// Waits for its end; negative: a signal ended it.
    int exit_status() {
        int status = 0;
        ::waitpid(std::exchange(pid_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    pid_t pid_;
};

inline bool become_nobody() {
    return ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
}

/// Whether a child may become another user: root may, unless its container took that right.
inline bool may_become_another_user() {
    return child_process([] { return become_nobody() ? 0 : 1; }).exit_status() == 0;
}

}  // namespace halcyon::tests
