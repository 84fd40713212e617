#include <algorithm>
#include <set>
#include <unordered_map>

#include "offload/store/hdf5/view_plan.hpp"

namespace halcyon::offload::hdf5 {
namespace {

using file_list = std::span<const std::shared_ptr<const published_file>>;

/// Keeps the last of the rows that show the same domain at the same time.
void keep_newest(std::vector<row_source>& rows) {
    const auto key = [](const row_source& r) { return std::pair{r.domain->domain, r.time}; };
    std::stable_sort(rows.begin(), rows.end(),
                     [&key](const row_source& a, const row_source& b) { return key(a) < key(b); });
    size_t kept = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (i + 1 < rows.size() && key(rows[i]) == key(rows[i + 1])) continue;
        rows[kept++] = rows[i];
    }
    rows.resize(kept);
}

void describe(gathered_variable& known, const stored_variable& v) {
    const bool first = known.rows.empty() && known.description.name.empty();
    if (!first) {
        known.consistent = known.consistent && known.description.type == v.type &&
                           known.description.placed == v.placed && known.description.time_varying == v.time_varying;
    }
    known.description.name = v.name;
    known.description.type = v.type;
    known.description.time_varying = v.time_varying;
    known.description.placed = v.placed;
    known.description.unit = v.unit;
    known.description.description = v.description;
    known.description.mesh = v.mesh;
    known.description.centered = v.centered;
}

}  // namespace

gathered_run gather(file_list files, const iteration_progress& progress) {
    gathered_run run;
    run.iterations = progress.published();
    std::unordered_map<int64_t, int64_t> time_of;
    for (size_t i = 0; i < run.iterations.size(); ++i) time_of[run.iterations[i]] = static_cast<int64_t>(i);
    std::set<int64_t> incomplete;
    const file_layout* described = nullptr;
    for (const auto& file : files) {
        std::vector<int64_t> times;
        for (const int64_t iteration : file->iterations) {
            const auto at = time_of.find(iteration);
            times.push_back(at == time_of.end() ? -1 : at->second);
        }
        for (const int64_t iteration : file->incomplete) {
            if (time_of.contains(iteration)) incomplete.insert(iteration);
        }
        // Most files look like the one before: their descriptions need not be copied again.
        const bool same = described == file->layout.get();
        described = file->layout.get();
        if (!same) {
            for (const stored_mesh& m : file->layout->meshes) run.meshes[m.name] = m;
        }
        for (const stored_variable& v : file->layout->variables) {
            gathered_variable& known = run.variables[v.name];
            if (!same) describe(known, v);
            for (const stored_domain& d : v.domains) {
                for (const int64_t row : d.rows) {
                    const int64_t time = v.time_varying ? times[static_cast<size_t>(row)] : 0;
                    if (time >= 0) known.rows.push_back({file.get(), &d, row, time});
                }
            }
        }
    }
    for (const auto& early : progress.early_ends())
        incomplete.insert(std::upper_bound(run.iterations.begin(), run.iterations.end(), early.last),
                          run.iterations.end());
    for (auto& [name, variable] : run.variables) keep_newest(variable.rows);
    std::erase_if(run.variables, [](const auto& entry) { return entry.second.rows.empty(); });
    run.incomplete_iterations.assign(incomplete.begin(), incomplete.end());
    return run;
}

}  // namespace halcyon::offload::hdf5
