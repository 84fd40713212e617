/// What a write of 4 KiB to a log container costs an application beyond one to a plain file: by pwrite, strided as of
/// one rank of four, and by write, one behind the other. Both files lie in memory and are new, so that each write takes
/// new pages on both sides.
///
/// One process, in blocks of both, in turn: pwrite and write as the application calls them on a file below `--log`, and
/// the C library's own on a plain file. The control is the latter against itself.
#include <fcntl.h>

#include <array>
#include <functional>
#include <vector>

#include "bench/figure.hpp"
#include "bench/logfs/logged_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int calls_per_block = 2048;
constexpr int blocks = 40;  // of a round
constexpr size_t bytes = 4096;
constexpr off_t ranks = 4;

using pwrite_function = ssize_t(int, const void*, size_t, off_t);
using write_function = ssize_t(int, const void*, size_t);

const std::vector<char>& data() {
    static const std::vector<char> of_process(bytes, 'x');
    return of_process;
}

/// Nanoseconds for each call, on a file that is new and removed afterwards.
double ns_per_call(const std::string& path, bool is_logged, const std::function<ssize_t(int, int)>& call) {
    const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0) stop("no file " + path);
    if (is_container(path) != is_logged) stop(path + (is_logged ? " is no log container" : " is a log container"));
    if (call(file, 0) != static_cast<ssize_t>(bytes)) stop("a write failed: " + path);  // a log begins with the first
    const double begin = wall_ns();
    for (int i = 1; i <= calls_per_block; ++i) {
        if (call(file, i) != static_cast<ssize_t>(bytes)) stop("a write failed: " + path);
    }
    const double spent = wall_ns() - begin;
    close(file);
    unlink(path.c_str());
    return spent / calls_per_block;
}

double pwrite_ns(const std::string& folder, bool is_logged, pwrite_function* function) {
    return ns_per_call(folder + "/file", is_logged, [function](int file, int i) {
        return function(file, data().data(), bytes, off_t{i} * ranks * static_cast<off_t>(bytes));
    });
}

double write_ns(const std::string& folder, bool is_logged, write_function* function) {
    return ns_per_call(folder + "/file", is_logged,
                       [function](int file, int) { return function(file, data().data(), bytes); });
}

}  // namespace

int main(int, char** arguments) {
    if (!has_memory_files()) {
        for (const char* figure : {"pwrite_overhead_ns", "write_overhead_ns"}) unmet(figure, "/dev/shm is no tmpfs");
        return 0;
    }
    const logged_folder folder = become_logged(arguments);
    auto* const plain_pwrite = own_function_of_libc<pwrite_function>("pwrite");
    auto* const plain_write = own_function_of_libc<write_function>("write");
    for (rounds r; r.next();) {
        interleaved pwrites;
        interleaved writes;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> at{};
            std::array<double, 3> behind{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                at[what] =
                    what == 0 ? pwrite_ns(folder.logs, true, pwrite) : pwrite_ns(folder.plain, false, plain_pwrite);
                behind[what] =
                    what == 0 ? write_ns(folder.logs, true, write) : write_ns(folder.plain, false, plain_write);
            }
            pwrites.add(at[0], at[1], at[2]);
            writes.add(behind[0], behind[1], behind[2]);
        }
        r.value("plain_pwrite_ns", pwrites.reference(), "ns");
        r.value("plain_write_ns", writes.reference(), "ns");
        pwrites.difference(r, "pwrite_overhead_ns", 1, "ns");
        writes.difference(r, "write_overhead_ns", 1, "ns");
    }
    return 0;
}
