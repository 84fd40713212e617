/// What recording costs a program that writes to memory (a tmpfs): time of the caller and of all threads for each
/// pwrite, bytes of trace, memory, and whether the hundredth pass over a file costs more than the first.
///
/// One process makes its calls in turn through the interposed function and past it, in blocks, so that both sides see
/// the same machine; the control is the second kind against itself.
#include <fcntl.h>
#include <sys/wait.h>

#include <array>
#include <vector>

#include "bench/figure.hpp"
#include "bench/recorded_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int calls_per_block = 2048;
constexpr int wanted = 15;  // rounds of the overhead
constexpr int blocks = 40;  // of a round
constexpr const char* file = "/dev/shm/halcyon-bench-observe";

using pwrite_function = ssize_t(int, const void*, size_t, off_t);

struct cost {
    double wall;
    double thread_cpu;
    double process_cpu;
};

cost write_block(pwrite_function* function, int fd, const std::vector<char>& data) {
    const double wall = wall_ns();
    const double thread = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const double process = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < calls_per_block; ++i) {
        if (function(fd, data.data(), data.size(), static_cast<off_t>(i) * static_cast<off_t>(data.size())) < 0) {
            stop("pwrite failed");
        }
    }
    return {(wall_ns() - wall) / calls_per_block, (clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread) / calls_per_block,
            (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process) / calls_per_block};
}

void measure_overhead(size_t bytes, const std::string& name) {
    const int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> data(bytes, 'x');
    auto* real = own_function_of_libc<pwrite_function>("pwrite");
    write_block(real, fd, data);
    for (rounds r(wanted); r.next();) {
        interleaved took;
        samples cpu;
        for (int block = 0; block < blocks; ++block) {
            std::array<cost, 3> costs{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                costs[what] = write_block(what == 0 ? &pwrite : real, fd, data);
            }
            took.add(costs[0].wall, costs[1].wall, costs[2].wall);
            // The coder works on while the other blocks run: its time is shared out over the recorded calls.
            double coder = 0;
            for (const cost& c : costs) coder += c.process_cpu - c.thread_cpu;
            cpu.add(costs[0].thread_cpu - costs[1].thread_cpu + coder);
        }
        took.difference(r, name, 1, "ns");
        r.value(name + "_cpu", cpu.median(), "ns");
    }
    close(fd);
    unlink(file);
}

/// A process that writes `passes` times over the same offsets: time per call of the last pass over the first.
double repeat_ratio() {
    constexpr int offsets = 16'384;
    constexpr int passes = 100;
    const int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> data(64, 'x');
    samples first, last;
    for (int pass = 0; pass <= passes; ++pass) {
        for (int part = 0; part < offsets / calls_per_block; ++part) {
            // Of the caller's own time: what else the machine does is no matter of passes.
            const double ns = write_block(&pwrite, fd, data).thread_cpu;
            // The very first makes the file's pages.
            if (pass >= 1 && pass <= 5) first.add(ns);
            if (pass > passes - 5) last.add(ns);
        }
    }
    close(fd);
    unlink(file);
    return last.median() / first.median();
}

/// Bytes of trace for each of a million regular writes of 4 KiB, and the memory that a process has then.
void write_regularly(const char* folder) {
    constexpr int calls = 1'000'000;
    const int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> data(4096, 'x');
    for (int i = 0; i < calls; ++i) {
        if (pwrite(fd, data.data(), data.size(), static_cast<off_t>(i % 4096) * 4096) != 4096) stop("pwrite failed");
    }
    close(fd);
    unlink(file);
    std::ofstream(folder) << peak_resident_MiB() << "\n";
}

double resident_after_writing(char* self, const char* result, bool recorded) {
    const pid_t child = fork();
    if (child == 0) {
        if (!recorded) {
            unsetenv("LD_PRELOAD");
            unsetenv("HALCYON_LAYERS");
        }
        // Past the interposed one, which would see to it that the new program is recorded.
        char* arguments[] = {self, const_cast<char*>(result), nullptr};
        own_function_of_libc<int(const char*, char* const*, char* const*)>("execve")("/proc/self/exe", arguments,
                                                                                     environ);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) stop("the program that writes regularly failed");
    double MiB = 0;
    std::ifstream(result) >> MiB;
    return MiB;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) {
        write_regularly(arguments[1]);
        return 0;
    }
    const std::string folder = become_recorded(arguments);
    measure_overhead(64, "posix_overhead_ns_64B");
    measure_overhead(4096, "posix_overhead_ns_4KiB");
    for (rounds r; r.next();) r.value("repeat_ratio", repeat_ratio(), "ratio");
    const std::string alone = folder + "/../regular";
    for (rounds r; r.next();) {
        const double before = trace_bytes(folder);
        const double with = resident_after_writing(arguments[0], alone.c_str(), true);
        // The traces of the other measurements grow, too; the child's is a file of its own, complete when it ended.
        r.value("bytes_per_call_regular", (trace_bytes(folder) - before) / 1e6, "bytes");
        r.value("memory_MiB", with - resident_after_writing(arguments[0], alone.c_str(), false), "MiB");
    }
}
