/// The application of alone_overhead.py: computes and writes in turn, and says how long both took.
///
///     alone_overhead FILE PHASES CALLS STEPS [direct]     prints: seconds in all, seconds of I/O, bytes
///
/// `direct`: past the page cache.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "bench/figure.hpp"
#include "bench/recorded_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr size_t call_bytes = size_t{64} << 10;
constexpr int kept_calls = 1024;  // of the file's size

double compute(int64_t steps) {
    double x = 1;
    for (int64_t i = 0; i < steps; ++i) x = x * 0.999 + 1.0 / (x + static_cast<double>(i % 7));
    return x;
}

}  // namespace

int main(int count, char** words) {
    if (count < 5) stop("alone_overhead FILE PHASES CALLS STEPS [direct]");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fd = open(words[1], O_RDWR | O_CREAT | (count == 6 ? O_DIRECT : 0), 0600);
    if (fd < 0) stop(std::string("cannot open ") + words[1]);
    const int phases = std::atoi(words[2]), calls = std::atoi(words[3]);
    const int64_t steps = std::atoll(words[4]);
    char* const data = static_cast<char*>(std::aligned_alloc(4096, call_bytes));
    std::fill_n(data, call_bytes, 'x');
    double io_ns = 0, x = 0;
    const double begin = wall_ns();
    for (int phase = 0; phase < phases; ++phase) {
        x += compute(steps);
        const double since = wall_ns();
        for (int call = 0; call < calls; ++call) {
            if (pwrite(fd, data, call_bytes, off_t{call % kept_calls} * static_cast<off_t>(call_bytes)) !=
                static_cast<ssize_t>(call_bytes))
                stop("pwrite failed");
        }
        io_ns += wall_ns() - since;
    }
    const double took_ns = wall_ns() - begin;
    if (x == 0) stop("it computed nothing");
    std::printf("%.6f %.6f %lld\n", took_ns / 1e9, io_ns / 1e9,
                static_cast<long long>(phases) * calls * static_cast<long long>(call_bytes));
    close(fd);
    std::free(data);
}
