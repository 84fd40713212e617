#include "coordinate/coordinator/reservations.hpp"

#include <algorithm>
#include <utility>

namespace halcyon::coordinate {

namespace {

int64_t at_most(int64_t said, int64_t given) {
    return given > 0 ? std::min(said, given) : said;
}

}  // namespace

bool is_of_job(std::string_view name, std::string_view job) {
    return name.starts_with(job) && (name.size() == job.size() || name[job.size()] == '.');
}

/// A job that was announced before keeps its time.
void reservations::add(const reserve& what, double now_s) {
    kept& one = by_job_.try_emplace(what.job, kept{{.since_s = now_s}, now_s}).first->second;
    one = {{what.job, what.user, what.processes, what.nodes, one.made.since_s}, now_s};
}

void reservations::restore(reservation one, double now_s) {
    one.since_s = now_s - one.since_s;
    std::string job = one.job;
    by_job_[std::move(job)] = {std::move(one), now_s};
}

bool reservations::end(std::string_view job) {
    const auto at = by_job_.find(job);
    if (at == by_job_.end()) return false;
    by_job_.erase(at);
    return true;
}

const reservation* reservations::covering(std::string_view name) const {
    while (true) {
        const auto at = by_job_.find(name);
        if (at != by_job_.end()) return &at->second.made;
        const size_t dot = name.rfind('.');
        if (dot == std::string_view::npos) return nullptr;
        name = name.substr(0, dot);
    }
}

std::vector<reservation> reservations::at(double now_s) const {
    std::vector<reservation> all;
    for (const auto& [job, one] : by_job_) {
        all.push_back(one.made);
        all.back().since_s = std::max(0.0, now_s - one.made.since_s);
    }
    return all;
}

registration reservations::believed(registration said, const reservation* held) {
    if (held == nullptr) return said;
    said.processes = at_most(said.processes, held->processes);
    said.nodes = at_most(said.nodes, held->nodes);
    return said;
}

std::string reservations::refusal(std::string_view name, const reservation& held, uint32_t claimed_by) {
    return "job '" + std::string(name) + "' is reserved for user " + std::to_string(held.user) +
           " by the batch system; this is user " + std::to_string(claimed_by);
}

}  // namespace halcyon::coordinate
