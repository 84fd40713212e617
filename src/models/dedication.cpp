#include "models/dedication.hpp"

#include <algorithm>

#include "models/requirement.hpp"

namespace halcyon::models {

namespace {

void require_count(const char* name, int64_t count, int64_t least) {
    require(count >= least, name, static_cast<double>(count), least == 0 ? "0 or more" : "1 or more");
}

void require_efficiency(const char* name, double efficiency) {
    require(efficiency > 0 && efficiency <= 1, name, efficiency, "a share above 0 up to 1");
}

}  // namespace

dedication dedicate_one_core(double compute_s, double write_s, double dedicated_write_s, int64_t cores_per_node) {
    require_time("compute_s", compute_s);
    require_time("write_s", write_s);
    require_time("dedicated_write_s", dedicated_write_s);
    require(cores_per_node >= 2, "cores_per_node", static_cast<double>(cores_per_node), "2 cores or more");
    const auto cores = static_cast<double>(cores_per_node);
    return {write_s + compute_s, std::max(compute_s * cores / (cores - 1), dedicated_write_s)};
}

least_io least_io_to_dedicate(int64_t cores_per_node) {
    require(cores_per_node >= 2, "cores_per_node", static_cast<double>(cores_per_node), "2 cores or more");
    const auto cores = static_cast<double>(cores_per_node);
    return {1 / (cores - 1), 1 / cores};
}

double run_time_s(const scaled_run& run) {
    require_time("base_s", run.base_s);
    require_count("iterations", run.iterations, 0);
    require_count("cores", run.cores, 1);
    require_count("nodes", run.nodes, 1);
    require_efficiency("core_efficiency", run.core_efficiency);
    require_efficiency("node_efficiency", run.node_efficiency);
    return run.base_s * static_cast<double>(run.iterations) /
           (static_cast<double>(run.cores) * run.core_efficiency * static_cast<double>(run.nodes) *
            run.node_efficiency);
}

double mean_power_w(const node_power& node, int64_t compute_nodes, int64_t dedicated_nodes) {
    require_positive("max_w", node.max_w);
    require(node.idle_w >= 0 && node.idle_w <= node.max_w, "idle_w", node.idle_w, "0 W up to max_w");
    require_count("compute_nodes", compute_nodes, 1);
    require_count("dedicated_nodes", dedicated_nodes, 0);
    const auto compute = static_cast<double>(compute_nodes);
    const auto dedicated = static_cast<double>(dedicated_nodes);
    return (compute * node.max_w + dedicated * (node.idle_w + node.max_w) / 2) / (compute + dedicated);
}

double energy_j(const scaled_run& run, const node_power& node, int64_t dedicated_nodes) {
    const double time_s = run_time_s(run);
    const double power_w = mean_power_w(node, run.nodes, dedicated_nodes);
    return time_s * power_w * static_cast<double>(run.nodes + dedicated_nodes);
}

}  // namespace halcyon::models
