#include "base/user_limits.hpp"

namespace halcyon {

user_limits::user_limits(const user_bounds& bounds) : bounds_(bounds) {
    users_.reserve(bounds.most_users);
}

/// Null: no room for one more.
user_limits::account* user_limits::account_of(uid_t user, int64_t now_ns) {
    if (const auto known = users_.find(user); known != users_.end()) return &known->second;
    if (users_.size() >= bounds_.most_users) {
        if (absent_.empty()) return nullptr;
        users_.erase(absent_.front());
        absent_.pop_front();
        ++counts_.forgotten_users;
    }
    const auto absence = absent_.insert(absent_.end(), user);
    return &users_.try_emplace(user, bounds_, now_ns, absence).first->second;
}

std::optional<user_limits::refusal> user_limits::open(uid_t user, int64_t now_ns) {
    account* const a = account_of(user, now_ns);
    if (a == nullptr) {
        ++counts_.refused_users;
        return refusal::users;
    }
    if (!a->opened.take(bounds_.connections, 1, now_ns)) {
        ++counts_.refused_connection_rate;
        return refusal::connection_rate;
    }
    if (a->connections >= bounds_.most_connections) {
        ++counts_.refused_connections;
        return refusal::connections;
    }
    if (a->connections++ == 0) present_.splice(present_.end(), absent_, a->absence);
    return std::nullopt;
}

void user_limits::close(uid_t user) {
    const auto known = users_.find(user);
    if (known == users_.end() || known->second.connections == 0) return;
    if (--known->second.connections == 0) absent_.splice(absent_.end(), present_, known->second.absence);
}

bool user_limits::receive(uid_t user, size_t bytes, int64_t now_ns) {
    const auto known = users_.find(user);
    if (known == users_.end()) return false;
    account& a = known->second;
    const auto size = static_cast<double>(bytes);
    const bool is_allowed =
        a.bytes.tokens(bounds_.bytes, now_ns) >= size && a.messages.take(bounds_.messages, 1, now_ns);
    if (is_allowed) {
        a.bytes.take(bounds_.bytes, size, now_ns);
    } else {
        ++counts_.refused_messages;
    }
    return is_allowed;
}

size_t user_limits::connections(uid_t user) const {
    const auto known = users_.find(user);
    return known == users_.end() ? 0 : known->second.connections;
}

const char* describe(user_limits::refusal why) {
    switch (why) {
        case user_limits::refusal::connections:
            return "too many connections of this user";
        case user_limits::refusal::connection_rate:
            return "this user connects too often";
        case user_limits::refusal::users:
            break;
    }
    return "connections of too many users";
}

}  // namespace halcyon
