#include "logfs/container/reading/run_level.hpp"

#include <bit>

namespace halcyon::logfs {
namespace {

struct place_of_run {
    int64_t low;
    size_t index;
};

/// Sorts small keys and then moves each run once.
bool sort_runs(page_array<placed_run>& runs, memory_source& memory) {
    const auto is_before = [](const auto& a, const auto& b) { return a.low < b.low; };
    page_array<place_of_run> keys(memory);
    if (!keys.resize(runs.size())) return false;
    for (size_t i = 0; i < runs.size(); ++i) keys[i] = {runs[i].what.low(), i};
    if (std::is_sorted(keys.begin(), keys.end(), is_before)) return true;
    std::sort(keys.begin(), keys.end(), is_before);
    page_array<placed_run> sorted(memory);
    if (!sorted.reserve(runs.size())) return false;
    for (const place_of_run& each : keys) {
        if (!sorted.push(runs[each.index])) return false;
    }
    runs.swap(sorted);
    return true;
}

}  // namespace

bool run_level::build(page_array<placed_run>& runs, memory_source& memory) {
    groups_ = std::bit_ceil(std::max<size_t>(1, (runs.size() + group - 1) / group));
    if (!reach_.resize(2 * groups_) || !sort_runs(runs, memory)) return false;
    runs_.swap(runs);
    runs.clear();
    std::fill(reach_.begin(), reach_.end(), INT64_MIN);
    for (size_t i = 0; i < runs_.size(); ++i) {
        int64_t& reach = reach_[groups_ + i / group];
        reach = std::max(reach, runs_[i].what.high());
    }
    for (size_t node = groups_ - 1; node >= 1; --node) reach_[node] = std::max(reach_[2 * node], reach_[2 * node + 1]);
    return true;
}

}  // namespace halcyon::logfs
