/// What halcyon_write of a 24 MiB block costs, over memcpy of as much into private memory that was touched before.
///
/// A real server in a process of its own; short sessions, so that a good part of all writes are the first ones into
/// their block. Before each timed copy, whichever it is, the source is computed anew, so that it is equally warm.

#include <sys/statfs.h>

#include <cstring>
#include <memory>

#include "bench/figure.hpp"
#include "simulation.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;

constexpr size_t block_bytes = size_t{24} << 20;
constexpr size_t block_values = block_bytes / sizeof(float);
constexpr int variables = 4;
constexpr int iterations = 5;
constexpr long tmpfs_magic = 0x01021994;

using buffer = std::unique_ptr<float[]>;

buffer touched() {
    buffer b(new float[block_values]);
    std::fill_n(b.get(), block_values, 1.0F);
    return b;
}

/// What the simulation does between outputs.
void compute(float* values) {
    for (size_t i = 0; i < block_values; ++i) values[i] = values[i] * 0.5F + 1.0F;
}

std::string configuration(bool stored) {
    std::string text = "halcyon: 1\nsimulation: bench\ndata:\n  layouts:\n    line: {type: float32, dimensions: [" +
                       std::to_string(block_values) + "]}\n  variables:\n";
    for (int v = 0; v < variables; ++v)
        text += "    v" + std::to_string(v) + ": {layout: line, store: " + (stored ? "main" : "false") + "}\n";
    if (stored) text += "stores:\n  main: {path: out}\n";
    return text + "resources:\n  buffer: {size: 192 MiB}\n";
}

template <class Copy>
double timed(float* source, Copy copy) {
    compute(source);
    const int64_t begin = monotonic_ns();
    copy();
    return static_cast<double>(monotonic_ns() - begin);
}

/// One session: a round.
void measure(rounds& r, const std::string& folder, bool stored, const std::string& name) {
    samples all, first, control, memcpy_speed;
    const buffer source = touched();
    buffer reference[variables], again[variables];
    for (int v = 0; v < variables; ++v) {
        reference[v] = touched();
        again[v] = touched();
    }
    session s(folder, configuration(stored));
    int copies = 0;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        for (int v = 0; v < variables; ++v) {
            const std::string variable = "v" + std::to_string(v);
            double took[3] = {};
            // Each of the three comes first, second and third equally often.
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (copies + turn) % 3;
                took[what] = timed(source.get(), [&] {
                    if (what == 0)
                        check(halcyon_write(s.handle(), variable.c_str(), source.get()));
                    else
                        std::memcpy((what == 1 ? reference : again)[v].get(), source.get(), block_bytes);
                });
            }
            ++copies;
            all.add(took[0] / took[1]);
            if (iteration == 0) first.add(took[0] / took[1]);
            control.add(took[2] / took[1]);
            memcpy_speed.add(block_bytes / took[1]);
        }
        // Its storing must not run beside the next copies: that would be a figure of the memory bus.
        s.end_iteration();
    }
    r.value(name, all.median(), "ratio");
    r.control(name + "_control", control.median());
    r.value(name + "_first", first.median(), "ratio");
    r.value(name + "_reference", memcpy_speed.median(), "GB/s");
}

void run() {
    take_first_core();
    rise_above_other_programs();
    const mpi_job job;
    struct statfs about {};
    const bool memory = ::statfs("/dev/shm", &about) == 0 && about.f_type == tmpfs_magic &&
                        about.f_bavail * static_cast<uint64_t>(about.f_bsize) > (uint64_t{2} << 30);
    const std::string folder = memory ? "/dev/shm" : ".";
    std::fprintf(stderr, "write_over_memcpy: files go to %s; _unstored: variables with `store: false`\n",
                 memory ? "a tmpfs" : "the working directory (no tmpfs of 2 GiB)");
    for (const bool stored : {true, false}) {
        for (rounds r; r.next();)
            measure(r, folder, stored, stored ? "write_over_memcpy" : "write_over_memcpy_unstored");
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
