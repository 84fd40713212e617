/// What coordination costs a call when nobody else is there: a write of 4 KiB to a file in memory, on a coordinated
/// mount under a standing turn, with a real agent and a real coordinator, and past the library, in blocks in turn, so
/// that both sides see the same machine; the control is the second kind against itself. Then the same of a file on
/// another mount: what a call costs that is none of the coordinator's business.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <vector>

#include "bench/figure.hpp"
#include "bench/recorded_process.hpp"
#include "coordinate/processes/small_daemon.hpp"
#include "halcyon/io.h"

namespace {

using namespace halcyon::bench;

constexpr int calls_per_block = 2000;
constexpr int wanted = 10;  // rounds
constexpr int blocks = 40;  // of a round
constexpr size_t bytes = 4096;
constexpr const char* mount = "/dev/shm/halcyon-bench-coordinate";

using pwrite_function = ssize_t(int, const void*, size_t, off_t);

double ns_per_call(pwrite_function* function, int fd, const std::vector<char>& data) {
    const double begin = wall_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        if (function(fd, data.data(), bytes, off_t{i % 64} * static_cast<off_t>(bytes)) != static_cast<ssize_t>(bytes))
            stop("pwrite failed");
    }
    return (wall_ns() - begin) / calls_per_block;
}

/// What the process has moved at the coordinated mount, by the account of its turns.
class account_of_turns {
  public:
    account_of_turns() {
        if (halcyon_io_init(nullptr, mount, &turns_) != HALCYON_OK) stop(halcyon_io_error_message());
    }
    ~account_of_turns() { halcyon_io_finalize(&turns_); }
    account_of_turns(const account_of_turns&) = delete;
    account_of_turns& operator=(const account_of_turns&) = delete;

    [[nodiscard]] halcyon_io_status_t now() const {
        halcyon_io_status_t found{};
        found.size_bytes = sizeof found;
        if (halcyon_io_status(turns_, &found) != HALCYON_OK) stop(halcyon_io_error_message());
        return found;
    }

  private:
    halcyon_io_handle turns_ = nullptr;
};

/// `coordinated_bytes`: that a round writes in turns.
void measure(const std::string& name, int fd, const std::vector<char>& data, int64_t coordinated_bytes,
             const account_of_turns& turns) {
    auto* real = own_function_of_libc<pwrite_function>("pwrite");
    ns_per_call(&pwrite, fd, data);
    for (rounds r(wanted); r.next();) {
        const halcyon_io_status_t before = turns.now();
        interleaved took;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> ns{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                ns[what] = ns_per_call(what == 0 ? &pwrite : real, fd, data);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.difference(r, name, 1, "ns");
        const halcyon_io_status_t after = turns.now();
        const int64_t moved = after.bytes - before.bytes, unasked = after.bytes_unasked - before.bytes_unasked;
        r.require("bytes move in turns, and only there", moved == coordinated_bytes && unasked == 0,
                  std::to_string(moved) + " in turns, " + std::to_string(unasked) + " unasked");
    }
}

/// A coordinator in a process of its own, which ends with this one.
void start_coordinator(const std::string& address) {
    std::array<int, 2> ready{};
    if (pipe(ready.data()) != 0) stop("no pipe");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const halcyon::tests::small_daemon daemon({}, address);
        static_cast<void>(write(ready[1], "1", 1));
        for (;;) pause();
    }
    char answer = 0;
    if (read(ready[0], &answer, 1) != 1) stop("no coordinator");
}

int opened(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) stop("cannot open " + path);
    return fd;
}

}  // namespace

int main(int, char** arguments) {
    if (std::getenv("HALCYON_LAYERS") == nullptr) {
        const std::string address = "unix:@halcyon-bench-coordinate-" + std::to_string(getpid());
        start_coordinator(address);
        setenv("HALCYON_COORDINATORS", (std::string(mount) + "=" + address).c_str(), 1);
        setenv("HALCYON_AGENT", HALCYON_AGENT_PROGRAM, 1);
        setenv("HALCYON_JOB", ("bench-" + std::to_string(getpid())).c_str(), 1);
        setenv("HALCYON_JOB_SECRET", "of this benchmark alone", 1);
    }
    mkdir(mount, 0700);
    become_layered(arguments, "coordinate");
    const std::vector<char> data(bytes, 'x');
    const std::string inside = std::string(mount) + "/file", outside = std::string(mount) + "-other";
    const int fd = opened(inside), other = opened(outside);
    const account_of_turns turns;
    measure("call_overhead_ns", fd, data, int64_t{blocks} * calls_per_block * int64_t{bytes}, turns);
    measure("call_overhead_ns_other_mount", other, data, 0, turns);
    unlink(inside.c_str());
    unlink(outside.c_str());
    rmdir(mount);
}
