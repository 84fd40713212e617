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
        case notice::kind::want:
            decided_.push_back(n);
            return;
        case notice::kind::reach:
        case notice::kind::meet:
            reached_[{n.what, n.event_id, n.iteration}].insert(n.origin);
            check_labels();
            return;
        case notice::kind::finish:
            finished_.insert(n.origin);
            check_labels();
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

bool event_order::complete(const std::set<int32_t>& reached) const {
    auto there = finished_;
    there.insert(reached.begin(), reached.end());
    return static_cast<int>(there.size()) >= servers_;
}

void event_order::check_labels() {
    for (auto it = reached_.begin(); it != reached_.end();) {
        if (!complete(it->second)) {
            ++it;
            continue;
        }
        const auto& [what, id, iteration] = it->first;
        decided_.push_back({what, id, iteration, -1, 0});
        it = reached_.erase(it);
    }
}

/// Servers without clients are waited for only when they are all there is to wait for: a session may use fewer nodes
/// than the world has.
void event_order::check_end() {
    const bool session_done = begun_ && static_cast<int>(finished_.size()) >= servers_;
    const bool nobody_left = static_cast<int>(finished_.size() + left_.size()) >= world_;
    if (!session_done && !nobody_left) return;
    ended_ = true;
    decided_.push_back({notice::kind::end, 0, 0, -1, 0});
}

}  // namespace halcyon
