#include "programs/event_order.hpp"

namespace halcyon {

void event_order::take(const notice& n) {
    if (ended_) return;
    switch (n.what) {
        case notice::kind::begin:
            begun_ = true;
            servers_ = n.servers;
            return;
        case notice::kind::raise:
            ++raised_;
            decided_.push_back(n);
            return;
        case notice::kind::want:
            decided_.push_back(n);
            return;
        case notice::kind::meet:
            came_[n.event_id].insert(n.origin);
            check_meetings();
            return;
        case notice::kind::finish:
            finished_[n.origin] = n.handled;
            check_meetings();
            check_end();
            return;
        case notice::kind::leave:
            left_.insert(n.origin);
            check_end();
            return;
        case notice::kind::abandon:
            if (!abandoned_) decided_.push_back(n);
            abandoned_ = true;
            return;
        case notice::kind::end:
        case notice::kind::bye:
            return;
    }
}

bool event_order::complete(const std::set<int32_t>& came) const {
    auto there = came;
    for (const auto& [server, handled] : finished_) there.insert(server);
    return static_cast<int>(there.size()) >= servers_;
}

void event_order::check_meetings() {
    for (auto it = came_.begin(); it != came_.end();) {
        if (!complete(it->second)) {
            ++it;
            continue;
        }
        decided_.push_back({notice::kind::meet, it->first, 0, -1, 0, 0});
        it = came_.erase(it);
    }
}

/// Servers without clients are waited for only when they are all there is to wait for: a session may use fewer nodes
/// than the world has.
void event_order::check_end() {
    const bool session_done = begun_ && static_cast<int>(finished_.size()) >= servers_;
    const bool nobody_left = static_cast<int>(finished_.size() + left_.size()) >= world_;
    if (!session_done && !nobody_left) return;
    for (const auto& [server, handled] : finished_)
        if (handled < raised_) return;
    ended_ = true;
    decided_.push_back({notice::kind::end, 0, 0, -1, 0, 0});
}

}  // namespace halcyon
