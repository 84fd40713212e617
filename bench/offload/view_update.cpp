/// What one new file costs the view of a run of 1,000 nodes with 10,000 files: when other nodes have yet to publish its
/// iteration, as nearly always, and when it is the last one of its iteration, so that the view is written anew.

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/figure.hpp"
#include "offload/store/store.hpp"
#include "processes.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;
using namespace halcyon::offload;

constexpr int nodes = 1000, iterations = 10, timed_files = 99;
constexpr int64_t values = 64;

double milliseconds_since(int64_t begin_ns) {
    return static_cast<double>(monotonic_ns() - begin_ns) * 1e-6;
}

/// A run with two variables of which each node has a piece.
class run_of_many_nodes {
  public:
    explicit run_of_many_nodes(file_store& store) : store_(store), memory_(values, 1.0F) {
        data_.simulation = "bench";
        layout line;
        line.name = "line";
        data_.layouts.push_back(line);
        place whole;
        whole.name = "whole";
        data_.places.push_back(whole);
        for (uint32_t i = 0; i < 2; ++i) {
            variable v;
            v.id = i;
            v.name = "v" + std::to_string(i);
            v.place_id = 0;
            data_.variables.push_back(v);
        }
        for (int node = 0; node < nodes; ++node) writers_.push_back(node_writer(node));
    }
    run_of_many_nodes(const run_of_many_nodes&) = delete;
    run_of_many_nodes& operator=(const run_of_many_nodes&) = delete;

    void publish(int node, int64_t iteration) {
        file_job job;
        job.data = &data_;
        job.target = &target_;
        job.writer = writers_[static_cast<size_t>(node)];
        job.path = file_name(data_.simulation, job.writer, iteration, 0, ".h5");
        job.ranks = nodes;
        job.iterations = {iteration};
        for (const variable& v : data_.variables) {
            block_view block{&v, iteration, node, 0, {}, std::as_bytes(std::span(memory_))};
            block.shape.dimensions = {values};
            block.shape.global = {values * nodes};
            block.shape.offset = {values * node};
            block.shape.ghost_before = block.shape.ghost_after = {0};
            block.shape.bytes = static_cast<int64_t>(block.data.size());
            job.blocks.push_back(block);
        }
        if (auto written = store_.write(job); !written) stop(written.why().message);
    }
    const std::vector<std::string>& writers() const { return writers_; }

  private:
    file_store& store_;
    std::vector<float> memory_;
    model data_;
    store target_;
    std::vector<std::string> writers_;
};

/// How long it takes to make a view that shows so many iterations.
double timed_rebuild(view_builder& view, const run_of_many_nodes& run, int64_t shown) {
    const int64_t begin = monotonic_ns();
    const auto made = view.rebuild(run.writers());
    const double took = milliseconds_since(begin);
    if (!made) stop(made.why().message);
    if (*made != shown) stop("the view does not show what is published");
    return took;
}

double list_folder() {
    const int64_t begin = monotonic_ns();
    DIR* open = ::opendir(".");
    if (open == nullptr) stop("cannot list this folder");
    int files = 0;
    while (::readdir(open) != nullptr) ++files;
    ::closedir(open);
    if (files < nodes * (iterations - 1)) stop("the files are not there");
    return milliseconds_since(begin);
}

void run() {
    ::setenv("HALCYON_MODULE_PATH", HALCYON_BENCH_MODULES, 0);
    auto module = load_store_module("hdf5");
    if (!module) stop(module.why().message);
    const std::unique_ptr<file_store> store(module->make_file_store());
    run_of_many_nodes many(*store);
    for (int node = 0; node < nodes; ++node)
        for (int64_t iteration = 0; iteration < iterations; ++iteration)
            if (iteration + 1 < iterations || node < nodes - timed_files - 1) many.publish(node, iteration);
    const std::unique_ptr<view_builder> view(module->make_view_builder(".", "bench"));
    timed_rebuild(*view, many, iterations - 1);
    int published = nodes - timed_files - 1;
    for (rounds each; published < nodes - 1 && each.next();) {
        many.publish(published++, iterations - 1);
        each.value("view_update_ms", timed_rebuild(*view, many, iterations - 1), "ms");
        each.value("view_update_ms_listing", list_folder(), "ms");
    }
    while (published < nodes) many.publish(published++, iterations - 1);
    for (rounds each; each.next();) {
        each.value("view_publish_ms", timed_rebuild(*view, many, iterations), "ms");
        ::unlink("bench.h5");
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
