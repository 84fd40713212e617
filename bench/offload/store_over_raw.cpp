/// How fast the HDF5 store writes, over plain sequential write() of the same bytes into the same folder; both synced,
/// and both not. Large blocks, and many small ones.

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <span>
#include <vector>

#include "bench/figure.hpp"
#include "offload/store/store.hpp"
#include "processes.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using namespace halcyon::offload;

double seconds_since(int64_t begin_ns) {
    return static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
}

double write_plainly(const std::vector<block_view>& views, bool sync) {
    const char* path = "plain";
    const int64_t begin = monotonic_ns();
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) stop("cannot create a file here");
    for (const block_view& view : views) {
        for (size_t done = 0; done < view.data.size();) {
            const ssize_t n = ::write(file, view.data.data() + done, view.data.size() - done);
            if (n <= 0) stop("cannot write here");
            done += static_cast<size_t>(n);
        }
    }
    if (sync && ::fsync(file) != 0) stop("cannot sync here");
    ::close(file);
    const double took = seconds_since(begin);
    ::unlink(path);
    return took;
}

double write_stored(file_store& store, const file_job& job) {
    const int64_t begin = monotonic_ns();
    if (auto report = store.write(job); !report) stop(report.why().message);
    const double took = seconds_since(begin);
    ::unlink(job.path.c_str());
    return took;
}

/// One file: one iteration of so many variables of one rank.
struct iteration {
    model data;
    store target;
    std::vector<std::vector<float>> memory;
    file_job job;

    iteration(uint32_t blocks, size_t block_bytes) {
        const size_t block_values = block_bytes / sizeof(float);
        data.simulation = "bench";
        layout line;
        line.name = "line";
        data.layouts.push_back(line);
        memory.resize(blocks);
        for (uint32_t i = 0; i < blocks; ++i) {
            variable v;
            v.id = i;
            v.name = "v" + std::to_string(i);
            data.variables.push_back(v);
            memory[i].resize(block_values);
            for (size_t k = 0; k < block_values; ++k) memory[i][k] = static_cast<float>(k + i);
        }
        job.data = &data;
        job.target = &target;
        job.path = "stored.h5";
        job.writer = "n0000";
        job.iterations = {0};
        for (uint32_t i = 0; i < blocks; ++i) {
            block_view view;
            view.var = &data.variables[i];
            view.shape.dimensions = {static_cast<int64_t>(block_values)};
            view.shape.global = view.shape.dimensions;
            view.shape.offset = {0};
            view.shape.ghost_before = {0};
            view.shape.ghost_after = {0};
            view.data = std::as_bytes(std::span(memory[i]));
            view.shape.bytes = static_cast<int64_t>(view.data.size());
            job.blocks.push_back(view);
        }
    }
    iteration(const iteration&) = delete;
    iteration& operator=(const iteration&) = delete;
};

/// What a disk of a virtual machine was seen to differ by from itself, a second later.
constexpr double control_within = 2;

/// `takes` of a round; in turn each of three writes comes first, second and third.
void measure(file_store& store, file_job& job, bool sync, int wanted, int takes, const std::string& name) {
    job.sync = sync;
    const auto bytes = static_cast<double>(job.blocks.size() * job.blocks[0].data.size());
    int take = 0;
    for (rounds r(wanted); r.next();) {
        interleaved took;
        for (const int end = take + takes; take < end; ++take) {
            double s[3] = {};
            for (int turn = 0; turn < 3; ++turn) {
                const int what = (take + turn) % 3;
                s[what] = what == 0 ? write_stored(store, job) : write_plainly(job.blocks, sync);
            }
            took.add(s[0], s[1], s[2]);
        }
        r.value(name, took.reference() / took.measured(), "ratio");
        r.control(name + "_control", took.control(), control_within);
        r.value(name + "_speed", bytes / took.measured() / 1e6, "MB/s");
    }
}

void run() {
    ::setenv("HALCYON_MODULE_PATH", HALCYON_BENCH_MODULES, 0);
    auto module = load_store_module("hdf5");
    if (!module) stop(module.why().message);
    const std::unique_ptr<file_store> store(module->make_file_store());
    iteration large(8, size_t{24} << 20);
    write_plainly(large.job.blocks, true);  // the folder's first file pays for what the file system sets up
    measure(*store, large.job, true, 15, 1, "store_over_raw");
    measure(*store, large.job, false, 9, 1, "store_over_raw_unsynced");
    iteration small(64, size_t{64} << 10);
    write_stored(*store, small.job);  // a run's first file, which the others are written after
    measure(*store, small.job, true, 12, 5, "store_over_raw_small");
    measure(*store, small.job, false, 18, 5, "store_over_raw_small_unsynced");
}

}  // namespace

int main() {
    return run_benchmark(run);
}
