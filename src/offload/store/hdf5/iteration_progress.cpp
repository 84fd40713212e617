#include "offload/store/hdf5/iteration_progress.hpp"

#include <algorithm>

namespace halcyon::offload::hdf5 {

void iteration_progress::add(const published_file& file) {
    if (file.name.part != 0) return;
    const std::string& writer = file.name.writer;
    const bool of_all = writer == all_servers;
    if (!of_all && !needed_.empty() && !needed_.contains(writer)) return;
    for (const int64_t iteration : file.iterations) {
        std::set<std::string>& writers = seen_[iteration];
        if (of_all) {
            writers.insert(needed_.begin(), needed_.end());
            continue;
        }
        writers.insert(writer);
        int64_t& last = last_of_.try_emplace(writer, iteration).first->second;
        last = std::max(last, iteration);
    }
}

bool iteration_progress::is_published(int64_t iteration) const {
    const auto found = seen_.find(iteration);
    return found != seen_.end() && is_enough(found->second);
}

std::vector<int64_t> iteration_progress::published() const {
    std::vector<int64_t> list;
    for (const auto& [iteration, writers] : seen_)
        if (is_enough(writers)) list.push_back(iteration);
    return list;
}

std::vector<iteration_progress::early_end> iteration_progress::early_ends() const {
    std::vector<early_end> list;
    if (!needed_.empty() || last_of_.empty()) return list;
    const char kind = last_of_.begin()->first.front();
    int64_t last = 0;
    for (const auto& [writer, end] : last_of_) {
        if (writer.front() != kind) return {};
        last = std::max(last, end);
    }
    for (const auto& [writer, end] : last_of_)
        if (end < last) list.push_back({writer, end});
    return list;
}

}  // namespace halcyon::offload::hdf5
