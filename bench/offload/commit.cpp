/// What handing over a block costs that the simulation computed in place: halcyon_alloc + commit + clear.

#include <cstring>

#include "bench/figure.hpp"
#include "simulation.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;

constexpr int blocks = 64;
constexpr int wanted = 20;      // rounds
constexpr int iterations = 15;  // of a round
constexpr size_t block_bytes = size_t{64} << 10;

std::string configuration() {
    return "halcyon: 1\nsimulation: bench\ndata:\n  layouts:\n    line: {type: uint8, dimensions: [" +
           std::to_string(block_bytes) +
           "]}\n  variables:\n    v: {layout: line, store: false, blocks-per-client: " + std::to_string(blocks) +
           "}\nresources:\n  buffer: {size: 64 MiB}\n";
}

void run() {
    take_first_core();
    rise_above_other_programs();
    const mpi_job job;
    session s(".", configuration());
    for (rounds r(wanted); r.next();) {
        samples handed_over, clock_alone;
        for (int iteration = 0; iteration < iterations; ++iteration) {
            for (int block = 0; block < blocks; ++block) {
                void* memory = nullptr;
                const int64_t begin = monotonic_ns();
                const int allocated = halcyon_alloc(s.handle(), "v", block, &memory);
                const int64_t in_place = monotonic_ns();
                check(allocated);
                // The simulation's own work: not part of the figure, but the calls find its caches.
                std::memset(memory, iteration, block_bytes);
                const int64_t ready = monotonic_ns();
                const int committed = halcyon_commit(s.handle(), "v", block);
                const int cleared = halcyon_clear(s.handle(), "v", block);
                const int64_t end = monotonic_ns();
                check(committed);
                check(cleared);
                handed_over.add(static_cast<double>(in_place - begin + end - ready));
                const int64_t nothing = monotonic_ns();
                clock_alone.add(static_cast<double>(monotonic_ns() - nothing));
            }
            s.end_iteration();
        }
        r.value("commit_ns", handed_over.median(), "ns");
        r.value("commit_ns_clock", clock_alone.median(), "ns");
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
