#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace halcyon::bench {

[[noreturn]] inline void stop(const std::string& why) {
    throw std::runtime_error(why);
}

/// What main() returns: runs `body`, which stop() may leave; what it made is undone then too.
template <class Body>
int run_benchmark(Body body) {
    try {
        body();
        return 0;
    } catch (const std::exception& thrown) {
        std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, thrown.what());
        return 1;
    }
}

/// The cores this program may use.
inline std::vector<int> cores_of(pid_t pid) {
    cpu_set_t set;
    std::vector<int> cores;
    if (::sched_getaffinity(pid, sizeof set, &set) != 0) stop("sched_getaffinity");
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    return cores;
}

inline void bind_to(pid_t pid, const std::vector<int>& cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(core, &set);
    if (::sched_setaffinity(pid, sizeof set, &set) != 0) stop("sched_setaffinity");
}

/// Binds this process to its first core and returns the second one, for its counterpart.
inline std::vector<int> take_first_core() {
    const std::vector<int> cores = cores_of(0);
    if (cores.size() < 2) stop("needs two cores: one for the client, one for the server");
    bind_to(0, {cores[0]});
    return {cores[1]};
}

inline void busy_pause(int64_t ns) {
    for (const int64_t until = monotonic_ns() + ns; monotonic_ns() < until;) cpu_relax();
}

/// Keeps other programs' turns out of the figures: real-time priority for this process (and what it starts later) or
/// another one. Where the system does not allow it, that is said, and the spread shows it.
inline void rise_above_other_programs(pid_t pid = 0) {
    sched_param lowest{};
    lowest.sched_priority = ::sched_get_priority_min(SCHED_FIFO);
    // Should its counterpart die, a process that spins at this priority ends too.
    constexpr rlim_t longest_spin_us = 60'000'000;
    const rlimit most{longest_spin_us, longest_spin_us};
    if (::prlimit(pid, RLIMIT_RTTIME, &most, nullptr) == 0 && ::sched_setscheduler(pid, SCHED_FIFO, &lowest) == 0)
        return;
    static bool said = false;
    if (!std::exchange(said, true))
        std::fprintf(stderr, "%s: no right to real-time priority: other programs' turns are in these figures\n",
                     program_invocation_short_name);
}

/// Zeroed memory that processes forked later share with this one, holding one T.
template <class T>
T& shared_with_children() {
    void* at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) stop("mmap");
    return *new (at) T{};
}

/// A process that runs `body` until it is killed, at the latest by the end of its parent.
class child_process {
  public:
    template <class Body>
    explicit child_process(Body body) : pid_(::fork()) {
        if (pid_ < 0) stop("fork");
        if (pid_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::_exit(run_benchmark(body));
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

/// What the kernel says of a process's first thread.
class watched_process {
  public:
    explicit watched_process(pid_t pid) : pid_(pid), stat_(::open(path("stat").c_str(), O_RDONLY | O_CLOEXEC)) {
        if (stat_ < 0) stop(path("stat"));
    }
    watched_process(const watched_process&) = delete;
    watched_process& operator=(const watched_process&) = delete;
    ~watched_process() { ::close(stat_); }

    [[nodiscard]] bool is_asleep() const {
        char text[512] = {};
        if (::pread(stat_, text, sizeof text - 1, 0) <= 0) stop(path("stat"));
        const char* name_end = std::strrchr(text, ')');
        return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'S';
    }

    /// Waits until the process has been asleep at each of several looks in a row.
    void wait_until_asleep() const {
        const int64_t limit = monotonic_ns() + 10'000'000'000;
        for (int looks = 0; looks < 3;) {
            looks = is_asleep() ? looks + 1 : 0;
            busy_pause(20'000);
            if (monotonic_ns() > limit) stop("process " + std::to_string(pid_) + " does not fall asleep");
        }
    }

    /// How often its first thread gave up the core by itself, that is: slept.
    [[nodiscard]] long sleeps() const {
        std::FILE* file = std::fopen(path("status").c_str(), "r");
        if (file == nullptr) stop(path("status"));
        char line[256];
        long count = -1;
        while (std::fgets(line, sizeof line, file) != nullptr)
            if (std::sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1) break;
        std::fclose(file);
        return count;
    }

  private:
    [[nodiscard]] std::string path(const char* file) const { return "/proc/" + std::to_string(pid_) + "/" + file; }

    pid_t pid_;
    int stat_;
};

/// The reference for waking: a process that sleeps on a bare futex and notes how long after `sent_ns` it runs.
class futex_sleeper {
  public:
    futex_sleeper() : shared_(shared_with_children<state>()), process_([this] { sleep_forever(); }) {}

    /// Returns what the call took the waker, in ns.
    int64_t wake() {
        const int64_t begin = monotonic_ns();
        shared_.sent_ns.store(begin, std::memory_order_relaxed);
        shared_.word.store(0, std::memory_order_release);
        futex_wake(shared_.word, 1);
        return monotonic_ns() - begin;
    }
    /// Waits until the process has run after the last wake(), and returns after how many ns it did.
    int64_t latency_ns() {
        while (shared_.woken.load(std::memory_order_acquire) == woken_) cpu_relax();
        ++woken_;
        return shared_.latency_ns.load(std::memory_order_relaxed);
    }
    [[nodiscard]] pid_t pid() const { return process_.pid(); }

  private:
    struct state {
        alignas(64) std::atomic<uint32_t> word{1};
        std::atomic<int64_t> sent_ns{0};
        alignas(64) std::atomic<uint64_t> woken{0};
        std::atomic<int64_t> latency_ns{0};
    };

    [[noreturn]] void sleep_forever() {
        while (true) {
            while (shared_.word.load(std::memory_order_acquire) != 0) futex_wait(shared_.word, 1, -1);
            shared_.latency_ns.store(monotonic_ns() - shared_.sent_ns.load(std::memory_order_relaxed),
                                     std::memory_order_relaxed);
            shared_.word.store(1, std::memory_order_relaxed);
            shared_.woken.fetch_add(1, std::memory_order_release);
        }
    }

    state& shared_;
    uint64_t woken_ = 0;
    child_process process_;
};

}  // namespace halcyon::bench
