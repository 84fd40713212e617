#pragma once

#include <cstdint>

namespace halcyon::models {

/// One I/O phase of an application, as others meet it.
struct io_phase {
    /// Its duration without others, in seconds; above 0.
    double alone_s = 0;
    /// The share of the storage's bandwidth that it takes alone, above 0 up to 1: 1 where the storage is its limit.
    double demand = 1;
    /// The share of the bandwidth that it gets of a storage in demand, relative to others: proportional to the number
    /// of its requests under way.
    double weight = 1;
    /// Cores that wait for it.
    double cores = 1;
};

enum class arbitration : uint8_t {
    /// Both go on, and share the bandwidth by their weights; a demand that is smaller leaves the rest to the other.
    interfere,
    /// The second waits for the first (first come, first served).
    fcfs,
    /// The first stops for the second, and goes on afterwards.
    interrupt,
};

struct phase_times {
    double a_s = 0;
    double b_s = 0;
};

/// The expected durations of A's phase, which starts at 0, and B's, which starts at `delta_s` (before A where
/// negative): one point of a delta-graph (Dorier 2014, section 6.1.2: a piecewise linear function under proportional
/// sharing). Waiting counts as I/O time. Two phases that start together: under fcfs A is the first, under interrupt B
/// is the second. Errors (usage): a value out of the bounds above.
phase_times expected_times(const io_phase& a, const io_phase& b, double delta_s, arbitration way);

/// Core seconds spent in I/O: f = N_A T_A + N_B T_B. With fcfs and interrupt, and 0 <= delta_s < T_A: eq. 6.4.
double core_seconds(const io_phase& a, const io_phase& b, double delta_s, arbitration way);

/// B, which starts after A, should interrupt it where it starts earlier than this, in seconds after A's start: the
/// solution of eq. 6.5, T_A - T_B N_A / N_B; 0 where an interruption never pays.
double interruption_pays_before(const io_phase& a, const io_phase& b);

}  // namespace halcyon::models
