/// How much sooner two threads have stored compressed files than one thread: 1 where they only take turns, 2 at best.

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/figure.hpp"
#include "offload/store/store.hpp"
#include "processes.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using namespace halcyon::offload;

constexpr int files = 4;
constexpr size_t values = size_t{1} << 20;

struct packed_iteration {
    model data;
    store target;
    std::vector<float> memory = std::vector<float>(values);

    packed_iteration() {
        data.simulation = "bench";
        layout line;
        line.name = "line";
        data.layouts.push_back(line);
        variable v;
        v.name = "v";
        v.compression = compression::gzip;
        data.variables.push_back(v);
        for (size_t i = 0; i < values; ++i) memory[i] = std::sin(static_cast<float>(i) * 0.001F);
    }
    packed_iteration(const packed_iteration&) = delete;
    packed_iteration& operator=(const packed_iteration&) = delete;

    void write_as(file_store& store, int file) const {
        file_job job;
        job.data = &data;
        job.target = &target;
        job.path = "packed" + std::to_string(file) + ".h5";
        job.writer = "n0000";
        job.iterations = {0};
        block_view block{data.variables.data(), 0, 0, 0, {}, std::as_bytes(std::span(memory))};
        block.shape.dimensions = block.shape.global = {static_cast<int64_t>(values)};
        block.shape.offset = block.shape.ghost_before = block.shape.ghost_after = {0};
        block.shape.bytes = static_cast<int64_t>(block.data.size());
        job.blocks = {block};
        if (auto written = store.write(job); !written) stop(written.why().message);
        ::unlink(job.path.c_str());
    }
};

double seconds_with(int threads, file_store& store, const packed_iteration& what) {
    const int64_t begin = monotonic_ns();
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (int file = t; file < files; file += threads) what.write_as(store, file);
        });
    for (std::thread& one : all) one.join();
    return static_cast<double>(monotonic_ns() - begin) * 1e-9;
}

void run() {
    ::setenv("HALCYON_MODULE_PATH", HALCYON_BENCH_MODULES, 0);
    auto module = load_store_module("hdf5");
    if (!module) stop(module.why().message);
    const std::unique_ptr<file_store> store(module->make_file_store());
    const packed_iteration what;
    what.write_as(*store, 0);
    for (rounds each; each.next();) {
        const double one = seconds_with(1, *store, what);
        const double two = seconds_with(2, *store, what);
        const double one_again = seconds_with(1, *store, what);
        each.value("encode_side_by_side", one / two, "ratio");
        each.control("encode_side_by_side_control", one / one_again);
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
