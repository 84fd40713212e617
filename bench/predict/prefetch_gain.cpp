/// One program that reads in steps and computes in between; prefetch_gain.py runs it with and without the layer.
///
///     prefetch_gain FILE PATTERN STEPS COMPUTE_NS
///
/// Prints how long all steps took, and how long their reads did, in nanoseconds. The page cache knows nothing of the
/// file at the beginning, but for `cached`.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/recorded_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int64_t pieces_per_step = 32;
constexpr int64_t piece = 128 << 10;
constexpr int64_t stride = 4 * piece;

/// Where the piece is.
int64_t offset_of(const std::string& pattern, int64_t number, int64_t file_bytes) {
    if (pattern == "contiguous") return number * piece;
    if (pattern == "backward") return file_bytes - (number + 1) * stride;
    if (pattern == "strided" || pattern == "cached") return number * stride;
    // Splitmix64 (Steele, Lea and Flood 2014).
    uint64_t x = static_cast<uint64_t>(number + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return static_cast<int64_t>((x ^ x >> 31) % static_cast<uint64_t>(file_bytes / piece - 1)) * piece;
}

void compute(double ns) {
    const double end = wall_ns() + ns;
    while (wall_ns() < end) continue;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) stop("prefetch_gain FILE PATTERN STEPS COMPUTE_NS");
    const std::string pattern = arguments[2];
    const int64_t steps = std::atoll(arguments[3]);
    const double compute_ns = std::atof(arguments[4]);
    const int fd = open(arguments[1], O_RDONLY);
    struct stat of {};
    if (fd < 0 || fstat(fd, &of) != 0) stop(std::string(arguments[1]) + ": cannot be opened");
    if (pattern != "cached") posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    std::vector<char> data(piece);
    double reading = 0;
    const double begin = wall_ns();
    for (int64_t step = 0; step < steps; ++step) {
        const double first = wall_ns();
        for (int64_t i = 0; i < pieces_per_step; ++i) {
            const int64_t at = offset_of(pattern, step * pieces_per_step + i, of.st_size);
            if (pread(fd, data.data(), piece, at) != piece) stop("a read failed");
        }
        reading += wall_ns() - first;
        compute(compute_ns);
    }
    std::printf("%.0f %.0f\n", wall_ns() - begin, reading);
}
