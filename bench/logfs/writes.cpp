/// What a write of 4 KiB to a log container costs beyond the same write to a plain file, in the caller: both in a
/// tmpfs, both to pages that are new.
///
/// One process, without a layer, in blocks of both, in turn; each block fills a file of its own. The control is the
/// plain file against itself.
#include <fcntl.h>

#include <array>
#include <filesystem>
#include <string>

#include "bench/figure.hpp"
#include "bench/recorded_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int wanted = 15;  // rounds
constexpr int blocks = 20;
constexpr int calls_per_block = 2048;
constexpr size_t bytes = 4096;

/// Starts the program again with the library preloaded, logs in a folder of a tmpfs; the folder.
std::string become_logged(char** arguments) {
    const char* const known = std::getenv("HALCYON_LOG");
    if (known != nullptr) return known;
    char folder[] = "/dev/shm/halcyon-bench-XXXXXX";
    if (mkdtemp(folder) == nullptr) stop("no folder in /dev/shm");
    std::filesystem::create_directory(std::string(folder) + "/logs");
    setenv("HALCYON_LOG", (std::string(folder) + "/logs").c_str(), 1);
    setenv("LD_PRELOAD", HALCYON_IO_LIBRARY, 1);
    execv("/proc/self/exe", arguments);
    stop("cannot start again with the library preloaded");
}

/// Nanoseconds for each, of a file that is new and goes with it.
template <class Write>
double write_block(const std::string& path, Write write) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) stop("cannot create " + path);
    static const std::array<char, bytes> data = [] {
        std::array<char, bytes> filled;
        filled.fill('x');
        return filled;
    }();
    if (write(fd, data.data(), 0) != bytes) stop("a write failed");  // a log begins with its first write
    const double begin = wall_ns();
    for (int i = 1; i <= calls_per_block; ++i)
        if (write(fd, data.data(), static_cast<off_t>(i) * static_cast<off_t>(bytes)) != bytes) stop("a write failed");
    const double took = wall_ns() - begin;
    close(fd);
    unlink(path.c_str());
    return took / calls_per_block;
}

template <class Write>
void measure(const char* figure, const std::string& logs, Write write) {
    const std::string logged = logs + "/file";
    const std::string plain = logs + "/../plain";
    write_block(logged, write);
    write_block(plain, write);
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> ns{};
            for (int turn = 0; turn < 3; ++turn) {
                const auto what = static_cast<size_t>((block + turn) % 3);
                ns[what] = write_block(what == 0 ? logged : plain, write);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.difference(r, figure, 1, "ns");
    }
}

/// The premise: files below the folder are containers.
void expect_containers(const std::string& logs) {
    const std::string path = logs + "/premise";
    const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const bool is_one = fd >= 0 && std::filesystem::read_symlink(link).string().ends_with("/halcyon-descriptor");
    if (!is_one) stop("a file below HALCYON_LOG is no container");
    close(fd);
    unlink(path.c_str());
}

}  // namespace

int main(int, char** arguments) {
    const std::string logs = become_logged(arguments);
    expect_containers(logs);
    measure("pwrite_overhead_ns", logs, [](int fd, const char* data, off_t at) { return pwrite(fd, data, bytes, at); });
    measure("write_overhead_ns", logs, [](int fd, const char* data, off_t) { return write(fd, data, bytes); });
    std::filesystem::remove_all(std::filesystem::path(logs).parent_path());
}
