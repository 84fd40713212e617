/// What the whole layer costs a call: a write of 64 bytes to a file in memory from 20 stack frames, with the layer and past
/// it, in blocks in turn, so that both sides see the same machine; the control is the second kind against itself. Its
/// parts: the layer is told (halcyon_io_forecast) nothing else; what learning alone costs, without a process around it,
/// is model.cpp's figure.
#include <fcntl.h>

#include <array>
#include <vector>

#include "bench/figure.hpp"
#include "bench/observe/recorded_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int calls_per_block = 2048;
constexpr int blocks = 400;
constexpr int frames = 20;
constexpr const char* file = "/dev/shm/halcyon-bench-predict";

using pwrite_function = ssize_t(int, const void*, size_t, off_t);

/// One frame for each depth: neither inlined nor turned into a jump.
template <int depth>
[[gnu::noinline]] ssize_t from_depth(pwrite_function* function, int fd, const char* data, off_t at) {
    ssize_t moved = 0;
    if constexpr (depth == 0)
        moved = function(fd, data, 64, at);
    else
        moved = from_depth<depth - 1>(function, fd, data, at);
    __asm__ volatile("" : "+r"(moved));
    return moved;
}

double ns_per_call(pwrite_function* function, int fd, const std::vector<char>& data) {
    const double begin = wall_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        if (from_depth<frames>(function, fd, data.data(), off_t{i} * 64) != 64) stop("pwrite failed");
    }
    return (wall_ns() - begin) / calls_per_block;
}

}  // namespace

int main(int, char** arguments) {
    become_layered(arguments, "predict");
    const int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> data(64, 'x');
    auto* real = own_function_of_libc<pwrite_function>("pwrite");
    ns_per_call(&pwrite, fd, data);
    samples overhead, control;
    for (int block = 0; block < blocks; ++block) {
        std::array<double, 3> ns{};
        for (int turn = 0; turn < 3; ++turn) {
            const int what = (block + turn) % 3;
            ns[what] = ns_per_call(what == 0 ? &pwrite : real, fd, data);
        }
        overhead.add((ns[0] - ns[1]) / 1000);
        control.add((ns[2] - ns[1]) / 1000);
    }
    close(fd);
    unlink(file);
    print("call_overhead_us", overhead, "us");
    print("call_overhead_us_control", control, "us");
}
