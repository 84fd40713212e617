#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "coordinate/coordinator/effects.hpp"

namespace halcyon::coordinate {

/// Whose clients are read when there is more to read than time: in each pass, those of one user for so long. The others
/// of that user wait for later passes, in the order in which they had something to say, and so does one that was read
/// and has more to say. So a user with thousands of clients that never stop sending, or whose lines take long, delays
/// only these.
class reading_turns {
  public:
    static constexpr int64_t of_user_ns = 5'000'000;

    void begin_pass() { spent_ns_.clear(); }
    /// Of a client with something to read. False: it waits, until next() returns it.
    bool may_read(connection_id id, uid_t user) {
        if (!queues_.contains(user) && !has_used_up(user)) return true;
        wait(id, user);
        return false;
    }
    /// One that was read, and has more to say than there was time for: it comes behind those of its user that wait.
    void wait(connection_id id, uid_t user) {
        if (waiting_.insert(id).second) queues_[user].push_back(id);
    }
    [[nodiscard]] bool waits(connection_id id) const { return waiting_.contains(id); }
    [[nodiscard]] bool anybody_waits() const { return !waiting_.empty(); }
    /// How long clients of the user may still be read in this pass.
    [[nodiscard]] int64_t left_ns(uid_t user) const {
        const auto at = spent_ns_.find(user);
        return at == spent_ns_.end() ? of_user_ns : std::max<int64_t>(of_user_ns - at->second, 0);
    }
    void was_read(uid_t user, int64_t took_ns) { spent_ns_[user] += took_ns; }
    /// One that has waited, of each user in turn. None: all that wait do so until the next pass.
    std::optional<connection_id> next() {
        for (size_t users = queues_.size(); users > 0; --users) {
            auto at = queues_.upper_bound(latest_);
            if (at == queues_.end()) at = queues_.begin();
            latest_ = at->first;
            if (has_used_up(latest_)) continue;
            std::optional<connection_id> found;
            while (!found && !at->second.empty()) {
                if (waiting_.erase(at->second.front()) > 0) found = at->second.front();
                at->second.pop_front();
            }
            if (at->second.empty()) queues_.erase(at);
            if (found) return found;
        }
        return {};
    }
    /// Also of one that does not wait.
    void forget(connection_id id) { waiting_.erase(id); }

  private:
    [[nodiscard]] bool has_used_up(uid_t user) const { return left_ns(user) == 0; }

    std::unordered_map<uid_t, int64_t> spent_ns_;        ///< in this pass
    std::map<uid_t, std::deque<connection_id>> queues_;  ///< those that are gone, too
    std::unordered_set<connection_id> waiting_;
    uid_t latest_ = 0;
};

}  // namespace halcyon::coordinate
