#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "base/shared_layout.hpp"

namespace halcyon {

/// What a server tells the one that orders events, and what that one tells all. Plain values: sent as bytes.
struct notice {
    /// `want` and `meet` are the servers' own: handed on as `raise` is, but not to the handler of events.
    enum class kind : uint32_t { begin, raise, want, meet, finish, leave, abandon, end, bye };
    kind what = kind::end;
    uint32_t event_id = 0;
    int64_t iteration = 0;
    int32_t origin = 0;   ///< server that sent it
    int32_t servers = 0;  ///< begin: of the session
    int64_t handled = 0;  ///< finish: how many raised events it has run
};
static_assert(has_copied_layout<notice, 32, 8>());

/// Decides the common order of a world's events: raised events as they come, a meeting (the labelled barrier of
/// Dorier 2014, section 3.2.2) when all servers of the session have come to it or finished, `end` last. It ends when
/// all servers have finished and have run every event: an action of the last one may still raise another.
class event_order {
  public:
    explicit event_order(int world_size) : world_(world_size), servers_(world_size) {}

    /// Takes what one server said.
    void take(const notice& n);
    /// What was decided and not taken out yet, oldest first.
    [[nodiscard]] std::deque<notice>& decided() { return decided_; }
    [[nodiscard]] bool ended() const { return ended_; }
    /// True once a server began to serve clients.
    [[nodiscard]] bool begun() const { return begun_; }

  private:
    [[nodiscard]] bool complete(const std::set<int32_t>& came) const;
    void check_meetings();
    void check_end();

    int world_;
    int servers_;  ///< of the session; those of the world until one began
    bool begun_ = false, ended_ = false, abandoned_ = false;
    int64_t raised_ = 0;                   ///< events that got their place in the order
    std::map<int32_t, int64_t> finished_;  ///< by server: events it had run
    std::set<int32_t> left_;
    std::map<uint32_t, std::set<int32_t>> came_;  ///< by store, since its last meeting
    std::deque<notice> decided_;
};

}  // namespace halcyon
