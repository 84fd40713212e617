#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halcyon::models {

/// The distribution of the number of applications that run at once: element n is the share of the time, from the first
/// start to the last end, during which n applications run (Dorier 2014, figure 6.1 b). `starts` and `ends` in seconds,
/// one per application; applications that end as they start count for nothing. Errors (usage): as many ends as starts
/// are needed, at least one application that takes time, none may end before it starts.
std::vector<double> running_at_once(std::span<const double> starts, std::span<const double> ends);

/// The distribution of the number of applications in an I/O phase: element k is P(Y = k). `at_once` is P(X = n), as
/// above; each application spends `io_share` of its time in I/O, independently of the others (Dorier 2014, eq. 6.1 with
/// k, not n, as the exponent of E(mu): with n the probabilities do not sum up to 1).
std::vector<double> in_io_at_once(std::span<const double> at_once, double io_share);

/// P(Y > 1): two or more applications are in an I/O phase (Dorier 2014, eq. 6.2).
double probability_of_two(std::span<const double> at_once, double io_share);

/// 1 - sum of P(X = n) (1 - E(mu))^n: an application that starts an I/O phase finds another one in its own (slides on
/// CALCioM). X is then the number of other applications, for which the thesis takes that of all.
double probability_of_another(std::span<const double> at_once, double io_share);

/// The chance that B starts while A writes, where both complete one I/O phase at random within `window_s`:
/// T_A / (t2 - t1) (Dorier 2014, eq. 6.3, which is the chance of 0 < dt < T_A, not of dt < 0 as printed).
/// Errors (usage): a window shorter than A's phase.
double probability_of_start_within(double alone_s, double window_s);

enum class file_use : uint8_t { shared, one_per_rank, logs };

/// Files that `ranks` writers create: one they share, one each, or with logs two each (data and index).
int64_t files_created(file_use use, int64_t ranks);

}  // namespace halcyon::models
