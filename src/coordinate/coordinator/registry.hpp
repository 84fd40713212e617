#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "coordinate/coordinator/job.hpp"
#include "coordinate/coordinator/settings.hpp"

namespace halcyon::coordinate {

/// One connection.
struct peer {
    connection_id id = 0;
    uint32_t user = 0;
    bool administrator = false;
    uint64_t job = 0;  ///< 0: has not registered
    uint64_t agent = 0;
    double heard_s = 0;  ///< of the hearing clock
    double sent_s = 0;   ///< when something was, as far as heartbeats look
};

/// Who is connected, and the applications that they have registered. An application is there for as long as it has an
/// agent; one whose connection broke counts until it is stale.
class registry {
  public:
    enum class admission : uint8_t {
        new_application,
        new_agent,
        agent_back,   ///< its earlier connection is gone, or is to be closed
        same_agent,   ///< its counts have grown
        other_user,   ///< the job is somebody else's
        wrong_token,  ///< does not show the secret of the job, or is registered for another one
        too_many,     ///< applications of all users
    };
    struct admitted {
        admission how = admission::new_application;
        connection_id displaced = 0;  ///< to be closed
    };

    explicit registry(const settings& how);

    void connect(const peer& one) { peers_[one.id] = one; }
    [[nodiscard]] peer* find_peer(connection_id id);
    std::map<connection_id, peer>& peers() { return peers_; }
    [[nodiscard]] const std::map<connection_id, peer>& peers() const { return peers_; }

    /// `may_add` is asked only before an application is added.
    template <class MayAdd>
    admitted admit(peer& from, const registration& what, double stale_by_heard_s, MayAdd may_add);

    [[nodiscard]] job* find_job(uint64_t id);
    std::map<uint64_t, job>& jobs() { return jobs_; }
    [[nodiscard]] const std::map<uint64_t, job>& jobs() const { return jobs_; }
    [[nodiscard]] static agent* find_agent(job& of, uint64_t id);

    /// The connection is gone; its agent may come back until `stale_by_heard_s`.
    void disconnect(connection_id id, double stale_by_heard_s);
    void remove_agent(job& of, uint64_t agent_id);
    void remove_job(uint64_t id);

    /// Applications that decisions are about: in a phase, expected, or with a turn. By number.
    [[nodiscard]] const std::set<uint64_t>& active() const { return active_; }
    /// What one user's applications list.
    [[nodiscard]] size_t targets_of(uint32_t user) const {
        const auto at = targets_of_user_.find(user);
        return at == targets_of_user_.end() ? 0 : at->second;
    }
    void set_targets(job& of, std::vector<uint32_t> targets);
    /// After every change of a job's phases, turn or expectation.
    void note_state(job& of, double now_s);

  private:
    /// Of an agent: there is one on each node of a job, for each mount.
    struct place {
        uint64_t job = 0;
        uint64_t mount = 0;
        std::string node;
        auto operator<=>(const place&) const = default;
    };

    admitted join(peer& from, job& to, const registration& what, double stale_by_heard_s);
    job& add_job(const registration& what, uint32_t user);

    uint32_t most_applications_;
    std::map<std::string, double, std::less<>> account_weights_;
    std::map<connection_id, peer> peers_;
    std::map<uint64_t, job> jobs_;
    std::map<std::string, uint64_t, std::less<>> by_name_;
    std::map<place, uint64_t> agents_;  ///< their numbers: a job may have thousands
    std::set<uint64_t> active_;
    std::map<uint32_t, size_t> targets_of_user_;  ///< of users that list any
    uint64_t next_id_ = 1;
};

template <class MayAdd>
registry::admitted registry::admit(peer& from, const registration& what, double stale_by_heard_s, MayAdd may_add) {
    const auto known = by_name_.find(what.job);
    if (from.job != 0 && (known == by_name_.end() || known->second != from.job)) return {admission::wrong_token};
    if (known == by_name_.end()) {
        if (jobs_.size() >= most_applications_ || !may_add()) return {admission::too_many};
        join(from, add_job(what, from.user), what, stale_by_heard_s);
        return {admission::new_application};
    }
    job& to = jobs_.at(known->second);
    if (to.user != from.user) return {admission::other_user};
    if (to.secret != what.secret) return {admission::wrong_token};
    return join(from, to, what, stale_by_heard_s);
}

}  // namespace halcyon::coordinate
