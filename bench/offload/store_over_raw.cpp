/// How fast the HDF5 store writes, over plain sequential write() of the same bytes into the same folder.
///
///   bench_store_over_raw [FOLDER] [ROUNDS]
///
/// Prints one figure per line: `room.figure value unit`. `control` is plain writing over itself in the same rounds.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "offload/store/store.hpp"

namespace {

using namespace halcyon::offload;
using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

[[noreturn]] void stop(const std::string& why) {
    std::fprintf(stderr, "bench_store_over_raw: %s\n", why.c_str());
    std::exit(1);
}

double write_plainly(const std::string& path, const std::vector<block_view>& blocks, bool sync) {
    const auto begin = clock_type::now();
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) stop(path + ": cannot create");
    for (const block_view& block : blocks) {
        size_t done = 0;
        while (done < block.data.size()) {
            const ssize_t n = write(file, block.data.data() + done, block.data.size() - done);
            if (n <= 0) stop(path + ": cannot write");
            done += static_cast<size_t>(n);
        }
    }
    if (sync && fsync(file) != 0) stop(path + ": cannot sync");
    close(file);
    const double time = seconds_since(begin);
    unlink(path.c_str());
    return time;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// `count` blocks of `bytes` each; of 8 variables.
void measure(file_store& store, const std::string& folder, int rounds, int count, int64_t bytes, bool sync) {
    model m;
    m.simulation = "bench";
    m.layouts.push_back({"line", scalar_type::float32, {}});
    for (uint32_t i = 0; i < 8; ++i) {
        variable v;
        v.id = i;
        v.name = "v" + std::to_string(i);
        m.variables.push_back(v);
    }
    halcyon::offload::store target;
    std::vector<std::vector<float>> memory(static_cast<size_t>(count));
    file_job job;
    job.data = &m;
    job.target = &target;
    job.path = folder + "/bench.h5";
    job.writer = "n0000";
    job.iterations = {0};
    job.sync = sync;
    for (int i = 0; i < count; ++i) {
        auto& values = memory[static_cast<size_t>(i)];
        values.resize(static_cast<size_t>(bytes) / sizeof(float));
        for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k + static_cast<size_t>(i));
        block_view block;
        block.var = &m.variables[static_cast<size_t>(i * 8 / count)];
        block.rank = i;
        block.shape.dimensions = {static_cast<int64_t>(values.size())};
        block.shape.global = block.shape.dimensions;
        block.shape.offset = {0};
        block.shape.ghost_before = {0};
        block.shape.ghost_after = {0};
        block.shape.bytes = bytes;
        block.data = std::as_bytes(std::span(values));
        job.blocks.push_back(block);
    }
    std::vector<double> ratios, controls, speeds;
    for (int round = 0; round < rounds; ++round) {
        const double plain = write_plainly(folder + "/bench.raw", job.blocks, sync);
        const auto begin = clock_type::now();
        if (const auto report = store.write(job); !report.ok()) stop(report.why().message);
        const double stored = seconds_since(begin);
        unlink(job.path.c_str());
        const double again = write_plainly(folder + "/bench.raw", job.blocks, sync);
        ratios.push_back(std::min(plain, again) / stored);
        controls.push_back(again / plain);
        speeds.push_back(static_cast<double>(count) * static_cast<double>(bytes) / stored / 1e6);
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    const std::string name = "offload.store_over_raw." + std::to_string(count) + "x" + std::to_string(bytes / 1024) +
                             "KiB" + (sync ? ".synced" : "");
    std::printf("%s %.3f ratio\n%s.least %.3f ratio\n%s.most %.3f ratio\n%s.control %.3f ratio\n%s.speed %.0f MB/s\n",
                name.c_str(), median(ratios), name.c_str(), *least, name.c_str(), *most, name.c_str(), median(controls),
                name.c_str(), median(speeds));
}

}  // namespace

int main(int count, char** arguments) {
    const std::string folder = count > 1 ? arguments[1] : ".";
    const int rounds = count > 2 ? std::atoi(arguments[2]) : 7;
    const auto module = load_store_module("hdf5");
    if (!module.ok()) stop(module.why().message);
    const std::unique_ptr<file_store> store(module->make_file_store());
    for (const bool sync : {true, false}) {
        measure(*store, folder, rounds, 8, int64_t{24} << 20, sync);
        measure(*store, folder, rounds, 64, int64_t{64} << 10, sync);
    }
    return 0;
}
