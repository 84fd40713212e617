#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

#include "base/token_bucket.hpp"

namespace halcyon {

/// What all connections of one user may do together, and how many users are kept in mind.
struct user_bounds {
    size_t most_connections = 1024;                       ///< at a time
    rate_limit connections{100, 1024};                    ///< opened, refused ones included
    rate_limit messages{2000, 4000};                      ///< received
    rate_limit bytes{16.0 * (1 << 20), 4.0 * (1 << 20)};  ///< received
    size_t most_users = 4096;
};

/// Keeps each user to the bounds, so that others are unharmed. It takes memory for `most_users` and no more: when one
/// more user comes, the one is forgotten who has had no connection for the longest time, and when all have
/// connections, the newcomer is refused. Together with the bounds of each connection this also bounds what a user's
/// connections buffer.
class user_limits {
  public:
    explicit user_limits(const user_bounds& bounds);

    enum class refusal : uint8_t { connections, connection_rate, users };
    /// A connection of this user has come. None: it may stay, and close() must follow.
    std::optional<refusal> open(uid_t user, int64_t now_ns);
    void close(uid_t user);
    /// A line of a user with an open connection has come. False: more than the user may send; nothing is charged.
    bool receive(uid_t user, size_t bytes, int64_t now_ns);

    /// Since the start, for whoever shows what was refused.
    struct counts {
        uint64_t refused_connections = 0, refused_connection_rate = 0, refused_users = 0, refused_messages = 0;
        uint64_t forgotten_users = 0;
    };
    [[nodiscard]] const counts& refused() const { return counts_; }
    [[nodiscard]] size_t users() const { return users_.size(); }
    [[nodiscard]] size_t connections(uid_t user) const;

  private:
    struct account {
        account(const user_bounds& bounds, int64_t now_ns, std::list<uid_t>::iterator absent)
            : opened(bounds.connections, now_ns),
              messages(bounds.messages, now_ns),
              bytes(bounds.bytes, now_ns),
              absence(absent) {}
        size_t connections = 0;
        token_bucket opened, messages, bytes;
        std::list<uid_t>::iterator absence;  ///< in absent_ while it has no connections, else in present_
    };
    account* account_of(uid_t user, int64_t now_ns);

    user_bounds bounds_;
    std::unordered_map<uid_t, account> users_;
    std::list<uid_t> present_, absent_;  ///< absent_: the longest absent first
    counts counts_;
};

/// For messages: `too many connections of this user`.
const char* describe(user_limits::refusal why);

}  // namespace halcyon
