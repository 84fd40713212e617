#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace halcyon::tests {

/// A child that does `work` one instruction after the other, as far as the test wants.
class stepped_process {
  public:
    /// `prepare()` is done at once.
    template <class Prepare, class Work>
    stepped_process(Prepare prepare, Work work) : pid_(::fork()) {
        if (pid_ == 0) {
            prepare();
            ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
            ::raise(SIGSTOP);
            work();
            ::raise(SIGUSR1);
            ::_exit(0);
        }
        ::waitpid(pid_, nullptr, 0);
    }
    stepped_process(const stepped_process&) = delete;
    stepped_process& operator=(const stepped_process&) = delete;
    ~stepped_process() { kill(); }

    /// False: the work was done before.
    bool step(int instructions) {
        for (int i = 0; i < instructions; ++i) {
            int status = 0;
            ::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr);
            ::waitpid(pid_, &status, 0);
            if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return false;
        }
        return true;
    }
    /// It goes on by itself, to its end.
    void let_go() { ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr); }
    [[nodiscard]] bool has_ended() {
        if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
        return pid_ == 0;
    }
    void kill() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

  private:
    pid_t pid_;
};

}  // namespace halcyon::tests
