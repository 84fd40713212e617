#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/protocol/json.hpp"

namespace halcyon::coordinate {

/// A talk between agents and a coordinator, kept as lines such as "A -> inform phase 1" and "A <- grant phase 1, lease
/// 1, fence 2". Leases and fencing numbers are told by their counters. All messages go through their JSON form.
class conversation {
  public:
    explicit conversation(const settings& how, uint64_t epoch = 1) : told(how, epoch, 0) {}
    /// Most tests are about what comes after the time in which a new coordinator grants nothing, and about applications
    /// that begin at once.
    static settings quick(policy::rule rule) {
        settings how;
        how.rule = rule;
        how.relearn_s = 0;
        how.bounds.interrupts_after_s = 0;
        how.interference.pairs = 64;
        return how;
    }

    connection_id connect(const std::string& who, uint32_t user = 1000, bool administrator = false) {
        const connection_id id = ++last_;
        connection_[who] = id;
        name_[id] = who;
        told.connected(id, user, administrator, now_s);
        return id;
    }
    /// Connects and registers the only agent of a job of the same name.
    void join(const std::string& who, uint32_t user = 1000) {
        connect(who, user);
        say(who, registration_of(who));
    }
    static registration registration_of(const std::string& job, const std::string& node = "n1") {
        registration what;
        what.job = job;
        what.node = node;
        what.secret = "a secret of 16 bytes or more, of " + job;
        return what;
    }
    void say(const std::string& who, const to_coordinator& message) {
        lines.push_back(who + " -> " + line_of(message));
        told.received(connection_.at(who), std::get<std::string>(encode(message)), now_s);
        settle();
    }
    void say_line(const std::string& who, std::string_view line) {
        told.received(connection_.at(who), line, now_s);
        settle();
    }
    void break_off(const std::string& who) {
        told.disconnected(connection_.at(who), now_s);
        connection_.erase(who);
        settle();
    }
    void settle() {
        const effects& done = told.advance(now_s);
        for (const effects::outgoing& one : done.messages) {
            const std::string line = std::get<std::string>(encode(one.message));
            const from_coordinator heard = std::get<from_coordinator>(decode_from_coordinator(line));
            const std::string who = name_.at(one.to);
            answers[who].push_back(heard);
            if (const auto* const g = std::get_if<grant>(&heard)) lease[who] = g->lease, grants[who].push_back(*g);
            if (const auto* const s = std::get_if<standing>(&heard)) lease[who] = s->lease;
            if (!std::holds_alternative<heartbeat>(heard) || heartbeats) lines.push_back(who + " <- " + line_of(heard));
        }
        for (const connection_id id : done.close) {
            lines.push_back(name_.at(id) + " closed");
            if (connection_.contains(name_.at(id)) && connection_.at(name_.at(id)) == id)
                connection_.erase(name_.at(id));
        }
        wake_at_s = done.wake_at_s;
    }
    /// Lets time pass as a daemon would; those that `live` tell that they do, and move bytes where they have the turn.
    void pass(double seconds, const std::vector<std::string>& live = {}, int64_t bytes_per_s = 0) {
        const double until_s = now_s + seconds;
        double beat_s = now_s;
        while (now_s < until_s) {
            now_s = std::min({until_s, std::max(wake_at_s, now_s + 0.001), std::max(beat_s, now_s + 0.001)});
            if (now_s >= beat_s) {
                for (const std::string& who : live) {
                    if (!connection_.contains(who)) continue;
                    told.received(connection_.at(who), heartbeat{}, now_s);
                    if (bytes_per_s > 0 && lease.contains(who)) {
                        progress moved;
                        moved.lease = lease.at(who);
                        moved.bytes_moved = bytes_per_s / 10;
                        told.received(connection_.at(who), moved, now_s);
                    }
                }
                beat_s = now_s + 0.1;
            }
            settle();
        }
    }
    /// What was told since the last look.
    std::vector<std::string> look() { return std::exchange(lines, {}); }

    const application_state& of(const std::string& job) {
        static application_state found;
        for (const application_state& one : told.state().applications)
            if (one.job == job) return found = one;
        ADD_FAILURE() << "no application " << job;
        return found;
    }
    bool has_turn(const std::string& job) { return of(job).turn == turn_stage::held; }

    coordinator told;
    double now_s = 0;
    double wake_at_s = 0;
    bool heartbeats = false;
    std::vector<std::string> lines;
    std::map<std::string, uint64_t> lease;
    std::map<std::string, std::vector<grant>> grants;
    std::map<std::string, std::vector<from_coordinator>> answers;  ///< all that each has heard

  private:
    static std::string number(uint64_t fence) { return std::to_string(fence & 0xffffffffU); }
    template <class Variant>
    static std::string line_of(const Variant& message) {
        return std::visit([](const auto& m) { return line(m); }, message);
    }
    template <class Message>
    static std::string line(const Message& m) {
        std::string text(Message::type);
        if constexpr (requires { m.job; }) text += " " + std::string(m.job);
        if constexpr (requires { m.phase; }) text += " phase " + std::to_string(m.phase);
        if constexpr (requires { m.lease; } && !std::is_same_v<Message, inform>) text += " lease " + number(m.lease);
        if constexpr (requires { m.round; } && !std::is_same_v<Message, inform>)
            text += " round " + std::to_string(m.round);
        if constexpr (requires { m.reason; }) text += ": " + m.reason;
        if constexpr (requires { m.holders; })
            for (const std::string& one : m.holders) text += " behind " + one;
        return text;
    }

    connection_id last_ = 0;
    std::map<std::string, connection_id> connection_;
    std::map<connection_id, std::string> name_;
};

inline inform phase_of(uint64_t phase, double left_s = 1, int64_t bytes = int64_t{1} << 30) {
    inform what;
    what.phase = phase;
    what.alone_s = what.left_s = left_s;
    what.bytes_left = bytes;
    return what;
}

inline inform phase_on(std::vector<uint32_t> targets, uint64_t number = 1) {
    inform what = phase_of(number);
    what.targets = std::move(targets);
    return what;
}

/// Bytes per second, for pass(): what nobody takes for a stall.
constexpr int64_t fast = 1'000'000'000;

inline progress moved_in(double over_s, int64_t bytes, uint64_t lease, int64_t under_way = 0) {
    progress what;
    what.lease = lease;
    what.bytes_moved = bytes;
    what.over_s = over_s;
    what.under_way = under_way;
    return what;
}

/// Moves `bytes` in each of so many quarters of a second.
inline void move(conversation& c, const std::string& who, int times, int64_t bytes) {
    for (int i = 0; i < times; ++i) {
        c.now_s += 0.25;
        c.say(who, moved_in(0.25, bytes, c.lease[who]));
    }
}

/// A moves 100 MB/s.
inline void move_a(conversation& c, int times) {
    move(c, "A", times, 25'000'000);
}

/// A holds the turn and B waits for it.
inline conversation holder_and_waiter(const settings& how = conversation::quick(policy::rule::fcfs)) {
    conversation c(how);
    c.join("A", 1000);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1));
    c.say("B", phase_of(1));
    c.look();
    return c;
}

}  // namespace halcyon::coordinate
