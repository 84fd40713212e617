#pragma once

#include <cstdint>

namespace halcyon::models {

/// One core of each node left to output, compared with output by all cores in turn with computation (Dorier 2014,
/// section 3.5.1). Times are those of one iteration, in seconds.
struct dedication {
    /// W_std + C_std: output, then computation, on all cores.
    double standard_s = 0;
    /// max(C_ded, W_ded): computation on the other cores, output beside it.
    double dedicated_s = 0;
    /// eq. 3.2
    [[nodiscard]] bool pays() const { return standard_s > dedicated_s; }
};

/// `compute_s` is C_std. C_ded is C_std N / (N - 1): perfect scalability of N cores to N - 1 (eq. 3.3). Errors (usage):
/// fewer than 2 cores, times below 0.
dedication dedicate_one_core(double compute_s, double write_s, double dedicated_write_s, int64_t cores_per_node);

/// The share of its iteration that a simulation must spend in I/O for a dedicated core to pay: p of section 3.5.1.
/// The thesis gives 1 / (N - 1), a ratio of I/O to *computation*, as the share of the time; of the whole time it is
/// 1 / N: with I/O and computation W and C, eq. 3.3 is W / C > 1 / (N - 1), hence W / (W + C) > 1 / N.
struct least_io {
    double over_computation = 0;
    double share_of_time = 0;
};
least_io least_io_to_dedicate(int64_t cores_per_node);

/// Run time in seconds (Dorier 2014, eq. 5.2). `base_s`: one iteration on one core; `cores` of each node compute on
/// `nodes` nodes; the efficiencies are scalabilities in (0, 1]: 1 where twice the resources take half the time.
struct scaled_run {
    double base_s = 0;
    int64_t iterations = 0;
    int64_t cores = 1;
    double core_efficiency = 1;
    int64_t nodes = 1;
    double node_efficiency = 1;
};
double run_time_s(const scaled_run& run);

/// Power of one node, in watts; `max_w` while it computes, `idle_w` while it does not.
struct node_power {
    double max_w = 0;
    double idle_w = 0;
};

/// Mean power of a node in watts where `dedicated_nodes` serve `compute_nodes` (eq. 5.3): a dedicated node takes the
/// mean of both powers. Without dedicated nodes, also with dedicated cores, it is `max_w` (eq. 5.4).
double mean_power_w(const node_power& node, int64_t compute_nodes, int64_t dedicated_nodes);

/// Energy in joules of all nodes (eq. 5.1, where P is the power of all nodes; eq. 5.3 and 5.4 give it per node).
double energy_j(const scaled_run& run, const node_power& node, int64_t dedicated_nodes);

}  // namespace halcyon::models
