#pragma once

#include <cstdint>
#include <vector>

namespace halcyon::coordinate {

/// Times without others.
struct iteration {
    double computes_s = 0;
    double io_s = 0;
};

/// Computes and does I/O in turn.
struct periodic_application {
    double period_s = 0;
    double io_share = 0;  ///< of the period
    std::vector<iteration> iterations;
};

/// How workloads are drawn: as those of IO-Sets (Boito, Pallez, Teylo, Vidal, TPDS 2023), a closed loop of computation
/// and I/O in each application, with noise in both.
struct workload_kind {
    uint64_t least_applications = 2;
    uint64_t most_applications = 20;
    double io_load = 0.8;  ///< sum of the I/O shares
    double shortest_s = 3.1622776601683795;
    double longest_s = 3162.2776601683795;  ///< periods: uniform in the logarithm between both
    double noise = 0.25;                    ///< periods and volumes of iterations differ by up to this share
    double periods = 10;                    ///< of the slowest application that a run has time for
};

struct periodic_workload {
    double horizon_s = 0;
    std::vector<periodic_application> all;

    /// Sum of the applications' time in I/O over their whole time, by the iterations drawn.
    [[nodiscard]] double io_load() const;
    /// Of every bit in it.
    [[nodiscard]] uint64_t digest() const;
};

/// The same for the same seed. The iterations of every application fill the horizon if nothing slows it down.
periodic_workload make_workload(uint64_t seed, const workload_kind& kind = {});

}  // namespace halcyon::coordinate
