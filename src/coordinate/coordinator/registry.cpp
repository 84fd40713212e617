#include "coordinate/coordinator/registry.hpp"

#include <algorithm>

namespace halcyon::coordinate {

namespace {

/// Accounts that are not named in the settings: one for each user, so that inventing names makes no new ones.
constexpr uint32_t account_of_user = uint32_t{1} << 31U;

}  // namespace

registry::registry(const settings& how)
    : most_applications_(how.most_applications), account_weights_(how.account_weights) {}

peer* registry::find_peer(connection_id id) {
    const auto at = peers_.find(id);
    return at == peers_.end() ? nullptr : &at->second;
}

job* registry::find_job(uint64_t id) {
    const auto at = jobs_.find(id);
    return at == jobs_.end() ? nullptr : &at->second;
}

agent* registry::find_agent(job& of, uint64_t id) {
    const auto at = std::ranges::lower_bound(of.agents, id, {}, &agent::id);
    return at == of.agents.end() || at->id != id ? nullptr : &*at;
}

job& registry::add_job(const registration& what, uint32_t user) {
    job made;
    made.id = next_id_++;
    made.name = what.job;
    made.secret = what.secret;
    made.user = user;
    made.account = what.account;
    const auto named = account_weights_.find(what.account);
    if (named != account_weights_.end()) {
        made.account_key = static_cast<uint32_t>(std::distance(account_weights_.begin(), named));
        made.account_weight = named->second;
    } else {
        made.account_key = account_of_user | user;
    }
    by_name_[what.job] = made.id;
    return jobs_[made.id] = std::move(made);
}

registry::admitted registry::join(peer& from, job& to, const registration& what, double stale_by_heard_s) {
    const place where{to.id, what.mount, what.node};
    const auto known = agents_.find(where);
    if (from.agent != 0 && (known == agents_.end() || known->second != from.agent)) return {admission::wrong_token};
    admitted done{admission::new_agent};
    const bool is_new = known == agents_.end();
    if (is_new) {
        agent made;
        made.id = next_id_++;
        made.node = what.node;
        made.mount = what.mount;
        agents_[where] = made.id;
        to.agents.push_back(std::move(made));
    } else {
        done.how = from.agent != 0 ? admission::same_agent : admission::agent_back;
    }
    agent& one = is_new ? to.agents.back() : *find_agent(to, known->second);
    if (done.how == admission::agent_back) {
        done.displaced = one.connection;
        if (peer* const before = find_peer(one.connection)) before->job = before->agent = 0;
        one.stale_by_heard_s = one.phase || to.has.any() ? stale_by_heard_s : never;
        one.wait_told_s = -1;
        one.lease = one.unheard_fence = 0;  // it shows what it still has
    }
    one.connection = from.id;
    one.processes = what.processes;
    one.nodes = what.nodes;
    from.job = to.id;
    from.agent = one.id;
    return done;
}

void registry::disconnect(connection_id id, double stale_by_heard_s) {
    const auto at = peers_.find(id);
    if (at == peers_.end()) return;
    if (job* const of = find_job(at->second.job)) {
        if (agent* const one = find_agent(*of, at->second.agent)) {
            one->connection = 0;
            one->stale_by_heard_s = stale_by_heard_s;
        }
    }
    peers_.erase(at);
}

void registry::remove_agent(job& of, uint64_t agent_id) {
    agent* const one = find_agent(of, agent_id);
    if (one == nullptr) return;
    of.has.gone(agent_id);
    of.end_phase(*one);
    if (peer* const by = find_peer(one->connection)) by->job = by->agent = 0;
    agents_.erase(place{of.id, one->mount, one->node});
    of.agents.erase(of.agents.begin() + (one - of.agents.data()));
}

void registry::remove_job(uint64_t id) {
    job* const of = find_job(id);
    if (of == nullptr) return;
    set_targets(*of, {});
    by_name_.erase(of->name);
    active_.erase(id);
    jobs_.erase(id);
}

void registry::set_targets(job& of, std::vector<uint32_t> targets) {
    const size_t sum = targets_of(of.user) - of.targets.size() + targets.size();
    if (sum > 0)
        targets_of_user_[of.user] = sum;
    else
        targets_of_user_.erase(of.user);
    of.targets = std::move(targets);
}

void registry::note_state(job& of, double now_s) {
    const policy::movement state = of.state_now();
    if (state != of.state) {
        const bool waited = of.state == policy::movement::waiting || of.state == policy::movement::interrupted;
        if (state == policy::movement::moving) of.waited_s = waited ? now_s - of.since_s : 0;
        of.state = state;
        of.since_s = now_s;
    }
    if (state != policy::movement::computing || of.has.any())
        active_.insert(of.id);
    else
        active_.erase(of.id);
}

}  // namespace halcyon::coordinate
