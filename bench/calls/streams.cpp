/// What the way to backends costs streams that are none of their business: fwrite of 64 bytes to /dev/null, unbuffered,
/// in a process that has a backend, over the same by a stream whose table leads straight to the C library's functions.
///
/// The latter is one that popen made, on the same file: the C library has a table of its own for these. One process,
/// without a layer, in blocks of both, in turn; the control is that stream against itself.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "bench/calls/mounted_process.hpp"
#include "bench/figure.hpp"

namespace {

using namespace halcyon::bench;

constexpr const char* figure = "stream_ratio";
constexpr int calls_per_block = 2048;
constexpr int wanted = 15;  // rounds
constexpr int blocks = 100;
constexpr size_t bytes = 64;

std::FILE* unbuffered(std::FILE* stream) {
    if (stream == nullptr || std::setvbuf(stream, nullptr, _IONBF, 0) != 0) stop("no stream");
    return stream;
}

const void* table_of(const std::FILE* stream) {
    const void* table = nullptr;
    std::memcpy(&table, reinterpret_cast<const char*>(stream) + sizeof *stream, sizeof table);
    return table;
}

/// Nanoseconds for each.
double write_block(std::FILE* stream, const std::array<char, bytes>& data) {
    const double begin = wall_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        if (std::fwrite(data.data(), bytes, 1, stream) != 1) stop("fwrite failed");
    }
    return (wall_ns() - begin) / calls_per_block;
}

}  // namespace

int main(int, char** arguments) {
    if (!has_files_in_memory(figure)) return 0;
    const std::string folder = become_mounted(arguments);
    std::FILE* const ours = unbuffered(std::fopen("/dev/null", "w"));
    std::FILE* const plain = unbuffered(popen("true", "w"));
    if (dup2(fileno(ours), fileno(plain)) < 0) stop("dup2 failed");
    // The premises: the two have different tables, and streams reach the backend.
    if (table_of(ours) == table_of(plain)) stop("both streams have one table");
    std::FILE* const mounted = std::fopen((folder + "/file").c_str(), "w");
    if (mounted == nullptr || std::fputs("text", mounted) < 0 || std::fclose(mounted) != 0) stop("no stream there");
    if (!std::filesystem::exists(folder + "/file")) stop("the backend has no file");
    std::array<char, bytes> data;
    data.fill('x');
    write_block(ours, data);
    write_block(plain, data);
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> ns{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                ns[what] = write_block(what == 0 ? ours : plain, data);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.ratio(r, figure);
    }
}
