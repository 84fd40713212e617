/// How fast a program reads a log container from its begin to its end, over a plain file with the same bytes: written
/// by four processes, whose pieces of 47 KiB lie between one another, and read by 1 MiB; the same of pieces of 256
/// bytes. Both lie in memory; opening counts.
///
/// One process, in turn: `read` as the application calls it on a file below `--log`, and the C library's own on the
/// plain file. The control is the latter over itself.
#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "bench/figure.hpp"
#include "bench/logfs/logged_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int writers = 4;
constexpr int takes = 5;  // of a round
constexpr size_t transfer = 1 << 20;

using read_function = ssize_t(int, void*, size_t);

struct shape {
    const char* figure;
    size_t piece;
    int pieces;  ///< of each writer
};
constexpr std::array<shape, 2> shapes{{{"read_back", size_t{47} << 10, 500}, {"read_back_256B", 256, 50000}}};

std::vector<char> piece_of(int writer, int number, size_t bytes) {
    std::vector<char> data(bytes);
    for (size_t i = 0; i < bytes; ++i)
        data[i] = static_cast<char>(writer * 131 + number * 31 + static_cast<int>(i) * 7);
    return data;
}

void write_pieces(const std::string& path, int writer, const shape& of) {
    const int file = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
    if (file < 0) stop("no file " + path);
    for (int number = 0; number < of.pieces; ++number) {
        const std::vector<char> data = piece_of(writer, number, of.piece);
        const auto place = static_cast<off_t>(of.piece) * (off_t{number} * writers + writer);
        if (pwrite(file, data.data(), data.size(), place) != static_cast<ssize_t>(data.size()))
            stop("a write failed: " + path);
    }
    if (close(file) != 0) stop("a file cannot be closed: " + path);
}

/// By four processes at a time.
void write_side_by_side(const std::string& path, const shape& of) {
    std::array<pid_t, writers> children{};
    for (int writer = 0; writer < writers; ++writer) {
        children[writer] = fork();
        if (children[writer] != 0) continue;
        write_pieces(path, writer, of);
        _exit(0);
    }
    for (const pid_t child : children) {
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) stop("a writer of " + path + " failed");
    }
}

/// From open to close; the bytes go to `into`, one transfer over the other.
double seconds(const std::string& path, read_function* function, std::vector<char>& into, size_t whole) {
    const double begin = wall_ns();
    const int file = open(path.c_str(), O_RDONLY);
    size_t read = 0;
    for (ssize_t moved = 1; moved > 0; read += static_cast<size_t>(moved)) {
        moved = function(file, into.data(), into.size());
        if (moved < 0) stop("a read failed: " + path);
    }
    close(file);
    if (read != whole) stop(path + " has another length than was written");
    return (wall_ns() - begin) / 1e9;
}

std::vector<char> contents(const std::string& path, size_t whole) {
    std::vector<char> all(whole);
    const int file = open(path.c_str(), O_RDONLY);
    for (size_t at = 0; at < whole;) {
        const ssize_t moved = read(file, all.data() + at, std::min(transfer, whole - at));
        if (moved <= 0) stop(path + " cannot be read");
        at += static_cast<size_t>(moved);
    }
    close(file);
    return all;
}

void measure(const logged_folder& folder, const shape& of, read_function* plain_read) {
    const std::string container = folder.logs + "/" + of.figure;
    const std::string plain = folder.plain + "/" + of.figure;
    const size_t whole = of.piece * static_cast<size_t>(of.pieces) * writers;
    write_side_by_side(container, of);
    write_side_by_side(plain, of);
    if (!is_container(container)) stop(container + " is no log container");
    if (contents(container, whole) != contents(plain, whole)) stop(container + " has other bytes than the plain file");
    std::vector<char> into(transfer);
    for (rounds r; r.next();) {
        interleaved bandwidth;
        for (int take = 0; take < takes; ++take) {
            std::array<double, 3> took{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (take + turn) % 3;
                took[what] =
                    what == 0 ? seconds(container, read, into, whole) : seconds(plain, plain_read, into, whole);
            }
            bandwidth.add(1 / took[0], 1 / took[1], 1 / took[2]);
        }
        r.value(std::string(of.figure) + "_bandwidth", static_cast<double>(whole) / 1e6 * bandwidth.measured(), "MB/s");
        bandwidth.ratio(r, of.figure);
    }
    unlink(container.c_str());
    unlink(plain.c_str());
}

}  // namespace

int main(int, char** arguments) {
    if (!has_memory_files()) {
        for (const shape& of : shapes) unmet(of.figure, "/dev/shm is no tmpfs");
        return 0;
    }
    const logged_folder folder = become_logged(arguments);
    auto* const plain_read = own_function_of_libc<read_function>("read");
    for (const shape& of : shapes) measure(folder, of, plain_read);
    return 0;
}
