/// What a pwrite of 64 bytes costs that a file's backend answers in place of the kernel, beyond the copy of its data:
/// by the in-memory backend of the tests, less a memcpy to the same places of a memfd's mapping.
///
/// One process, without a layer, in blocks of both, in turn; the control is the copy against itself.
#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cstring>

#include "bench/calls/mounted_process.hpp"
#include "bench/figure.hpp"

namespace {

using namespace halcyon::bench;

constexpr const char* figure = "backend_ns";
constexpr int calls_per_block = 2048;
constexpr int wanted = 15;  // rounds
constexpr int blocks = 100;
constexpr size_t bytes = 64;
constexpr size_t file_bytes = size_t{calls_per_block} * bytes;

char* map_memory() {
    const int fd = memfd_create("bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, file_bytes) != 0) stop("no file in memory");
    void* const at = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) stop("a file in memory cannot be mapped");
    return static_cast<char*>(at);
}

/// Nanoseconds for each.
double copy_block(char* to, const std::array<char, bytes>& data) {
    const double begin = wall_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        std::memcpy(to + static_cast<size_t>(i) * bytes, data.data(), bytes);
        asm volatile("" : : "r"(to) : "memory");
    }
    return (wall_ns() - begin) / calls_per_block;
}

double write_block(int fd, const std::array<char, bytes>& data) {
    const double begin = wall_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        if (pwrite(fd, data.data(), bytes, static_cast<off_t>(i) * static_cast<off_t>(bytes)) != bytes)
            stop("pwrite failed");
    }
    return (wall_ns() - begin) / calls_per_block;
}

}  // namespace

int main(int, char** arguments) {
    if (!has_files_in_memory(figure)) return 0;
    const std::string folder = become_mounted(arguments);
    const int fd = open((folder + "/file").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) stop("no file on the backend");
    char* const memory = map_memory();
    std::array<char, bytes> data;
    data.fill('x');
    write_block(fd, data);
    copy_block(memory, data);
    // The premise: the kernel has nothing of it.
    if (std::filesystem::exists("/proc/self/fd/" + std::to_string(fd)) &&
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string().find("memfd:halcyon") ==
            std::string::npos)
        stop("the file is the kernel's");
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> ns{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                ns[what] = what == 0 ? write_block(fd, data) : copy_block(memory, data);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.difference(r, figure, 1, "ns");
    }
}
