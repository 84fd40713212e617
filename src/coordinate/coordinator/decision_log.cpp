#include "coordinate/coordinator/decision_log.hpp"

#include <algorithm>

#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {

namespace {

size_t shorten(std::vector<std::string>& names) {
    const size_t more = names.size() - std::min(names.size(), decision_log::most_names);
    names.resize(names.size() - more);
    names.shrink_to_fit();
    return more;
}

std::string list(const std::vector<std::string>& names, size_t more) {
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(names.size(), 3); ++i) text += (i > 0 ? ", " : "") + names[i];
    return names.size() > 3 ? text + " and " + std::to_string(names.size() - 3 + more) + " more" : text;
}

std::string sentence(const decision_log::entry& one) {
    std::string text;
    if (!one.stop.empty()) text += list(one.stop, one.more_stop) + (one.stop.size() > 1 ? " stop" : " stops");
    if (!one.move.empty()) text += (text.empty() ? "" : "; ") + list(one.move, one.more_move) + " may move";
    text +=
        ": " + std::string(policy::name_of(one.why)) + ", of " + std::to_string(one.present) + " that want the storage";
    if (one.expected > 0) text += " and " + std::to_string(one.expected) + " expected";
    return std::string(begin_of(text, longest_reason));
}

}  // namespace

void decision_log::add(entry what) {
    ++by_reason_[what.why];
    what.more_move = shorten(what.move);
    what.more_stop = shorten(what.stop);
    if (what.pending.size() > most_pending) {
        what.pending = std::vector<participant>();
        what.broken = true;
    }
    for (const participant& one : what.pending) pending_in_[one.id].push_back(first_ + entries_.size());
    entries_.push_back(std::move(what));
    while (entries_.size() > kept_) forget_oldest();
}

void decision_log::forget_oldest() {
    for (const participant& one : entries_.front().pending) {
        const auto at = pending_in_.find(one.id);
        if (at == pending_in_.end()) continue;
        if (!at->second.empty() && at->second.front() == first_) at->second.pop_front();
        if (at->second.empty()) pending_in_.erase(at);
    }
    entries_.pop_front();
    ++first_;
}

/// An application has one phase at a time: with it, nothing of the application is pending any more.
template <class What>
void decision_log::end(participant who, What&& what) {
    const auto at = pending_in_.find(who.id);
    if (at == pending_in_.end()) return;
    for (const uint64_t number : at->second) {
        entry& one = entries_[number - first_];
        if (std::erase_if(one.pending,
                          [&](const participant& p) { return p.id == who.id && p.arrived_s == who.arrived_s; }) > 0)
            what(one);
    }
    pending_in_.erase(at);
}

void decision_log::phase_ended(participant who, double cost) {
    end(who, [cost](entry& one) { one.observed_cost += cost; });
}

void decision_log::phase_broken(participant who) {
    end(who, [](entry& one) { one.broken = true; });
}

std::vector<decided> decision_log::latest(size_t n, double now_s) const {
    std::vector<decided> told;
    for (size_t i = entries_.size() - std::min(n, entries_.size()); i < entries_.size(); ++i) {
        const entry& one = entries_[i];
        decided d;
        d.ago_s = std::max(0.0, now_s - one.at_s);
        d.why = policy::name_of(one.why);
        d.text = sentence(one);
        d.move = one.move;
        d.stop = one.stop;
        for (const policy::alternative& way : one.alternatives) {
            d.ways.emplace_back(policy::name_of(way.way));
            d.costs.push_back(way.cost);
        }
        for (const belief& each : one.believed) {
            d.jobs.push_back(each.job);
            d.left_s.push_back(each.left_s);
            d.demands.push_back(each.demand);
        }
        d.unseen_share = one.unseen_share;
        d.observed_cost = one.pending.empty() && !one.broken ? one.observed_cost : -1;
        told.push_back(std::move(d));
    }
    return told;
}

}  // namespace halcyon::coordinate
