/// What the whole layer costs a call: a write of 64 bytes to a file in memory from 20 stack frames, with the layer and
/// past it, in blocks in turn, so that both sides see the same machine; the control is the second kind against itself.
/// Once from one place in the program, as in a loop over a buffer, and once from 20 places in turn. Then what an answer
/// costs: the next 16 accesses, in the middle of phases of 40 calls, and where the next pause is out of sight.
///
/// With HALCYON_LAYERS set, and the library preloaded, the same of other layers.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "base/io_forecast.hpp"
#include "bench/figure.hpp"
#include "bench/recorded_process.hpp"

namespace {

using namespace halcyon::bench;

constexpr int calls_per_block = 2000;
constexpr int wanted = 10;  // rounds
constexpr int blocks = 40;  // of a round
constexpr int frames = 20;
constexpr int sites = 20;
constexpr useconds_t pause_us = 20'000;
constexpr const char* file = "/dev/shm/halcyon-bench-predict";

using pwrite_function = ssize_t(int, const void*, size_t, off_t);
using path_to_call = ssize_t(pwrite_function*, int, const char*, off_t);

/// One frame for each depth: neither inlined nor turned into a jump.
template <int site, int depth>
[[gnu::noinline]] ssize_t from_depth(pwrite_function* function, int fd, const char* data, off_t at) {
    ssize_t moved = 0;
    if constexpr (depth == 0)
        moved = function(fd, data, 64, at);
    else
        moved = from_depth<site, depth - 1>(function, fd, data, at);
    __asm__ volatile("" : "+r"(moved));
    return moved;
}

template <int... site>
constexpr std::array<path_to_call*, sites> all_paths(std::integer_sequence<int, site...>) {
    return {&from_depth<site, frames>...};
}
constexpr std::array<path_to_call*, sites> paths = all_paths(std::make_integer_sequence<int, sites>());

double ns_per_call(int from_sites, pwrite_function* function, int fd, const std::vector<char>& data) {
    const double begin = wall_ns();
    for (int i = 0; i < calls_per_block; ++i) {
        if (paths[i % from_sites](function, fd, data.data(), off_t{i} * 64) != 64) stop("pwrite failed");
    }
    return (wall_ns() - begin) / calls_per_block;
}

void measure(int from_sites, const std::string& name, int fd, const std::vector<char>& data) {
    auto* real = own_function_of_libc<pwrite_function>("pwrite");
    ns_per_call(from_sites, &pwrite, fd, data);
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (int block = 0; block < blocks; ++block) {
            std::array<double, 3> ns{};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (block + turn) % 3;
                ns[what] = ns_per_call(from_sites, what == 0 ? &pwrite : real, fd, data);
            }
            took.add(ns[0], ns[1], ns[2]);
        }
        took.difference(r, name, 1e-3, "us");
    }
}

/// `begin()` brings the program to where it asks.
template <class Begin>
void measure_answer(const std::string& name, int answers, int fd, const std::vector<char>& data, Begin begin) {
    auto* const entry =
        reinterpret_cast<halcyon::io_forecast::entry_point*>(dlsym(RTLD_DEFAULT, "halcyon_io_forecast"));
    const auto* const source = entry == nullptr ? nullptr : entry(halcyon::io_forecast::version);
    if (source == nullptr) return;  // other layers have no forecasts
    std::array<halcyon::io_forecast::access, 16> accesses;
    for (rounds r(wanted); r.next();) {
        samples answer;
        int incomplete = 0;
        for (int i = 0; i < answers; ++i) {
            begin();
            for (const auto path : paths) path(&pwrite, fd, data.data(), 0);
            halcyon::io_forecast::answer found;
            const double since = wall_ns();
            if (!source->forecast({accesses.size(), halcyon::io_forecast::not_known}, accesses.data(), found))
                stop("no forecast");
            answer.add((wall_ns() - since) / 1000);
            incomplete += found.count == accesses.size() ? 0 : 1;
        }
        // Where the machine was away for so long that the thread is late, there is less to answer.
        r.require("answers are complete", incomplete <= answers / 10, std::to_string(incomplete) + " are not");
        r.value(name, answer.median(), "us");
    }
}

}  // namespace

int main(int, char** arguments) {
    become_layered(arguments, "predict");
    const int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> data(64, 'x');
    measure(1, "call_overhead_us", fd, data);
    measure(sites, "call_overhead_us_20_sites", fd, data);
    usleep(pause_us);
    measure_answer("answer_us_longest", 40, fd, data, [] {});
    const auto after_a_phase = [&] {
        for (const auto path : paths) path(&pwrite, fd, data.data(), 0);
        usleep(pause_us);
    };
    measure_answer("answer_us", 10, fd, data, after_a_phase);
    close(fd);
    unlink(file);
}
