#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinate/agent/turn_agent.hpp"

namespace halcyon::coordinate {

using transcript = std::vector<std::string>;

inline const char* name_of(permission of) {
    constexpr const char* names[] = {"closed", "unasked", "allowed", "standing", "waiting", "hold", "stop"};
    return names[static_cast<int>(of)];
}

/// An agent that is told, step by step, what came and what its processes do; writes down what it says and shows.
class turn_agents : public testing::Test {
  protected:
    turn_agents() {
        job.job = "A";
        job.node = "n1";
        job.secret = "0123456789abcdef";
        agent.emplace(turn_agent::settings{.job = job}, now_s);
        node.processes = 2;
    }

    /// Lets it do what there is, and writes down what it says and shows.
    void advance(double later_s = 0) {
        now_s += later_s;
        for (bool again = true; again;) {
            agent->observed(node);
            ++looks;
            last = agent->advance(now_s);
            if (last.page) {
                std::string line = std::string("page ") + name_of(last.page->to);
                if (last.page->stop_round != 0) line += " before round " + std::to_string(last.page->stop_round);
                if (last.page->bytes) line += ", " + std::to_string(*last.page->bytes) + " bytes";
                said.push_back(line);
                if (last.page->bytes) node.pool = *last.page->bytes;
                if (last.page->to == permission::hold && at_hold) at_hold();
                if (last.page->to == permission::waiting && at_close) std::exchange(at_close, nullptr)();
            }
            for (const to_coordinator& message : last.messages)
                if (!std::holds_alternative<heartbeat>(message) || heartbeats)
                    said.push_back(std::visit([](const auto& m) { return line_of(m); }, message));
            again = last.look_again;
            if (last.clean_caches && cleans_up_at_once && agent->cleans_up()) {
                agent->caches_clean();
                again = true;
            } else if (last.clean_caches) {
                said.emplace_back("clean caches");
            }
        }
    }
    void hear(const from_coordinator& message) {
        agent->received(message, now_s);
        advance();
    }
    transcript look() { return std::exchange(said, {}); }

    void join() {
        agent->connected(now_s);
        advance();
        hear(registered{1, 0.25, 0.2, 1});
        look();
    }
    /// A phase that gets its turn, of which the writer has not heard yet.
    void ask_and_get(uint64_t lease = 7, int64_t bytes = 1000) {
        node.waiting = 1;
        node.begun = 1;
        advance();
        hear(grant{1, lease, bytes, 100});
    }
    /// A phase that moves under a lease.
    void begin(uint64_t lease = 7, int64_t bytes = 1000) {
        ask_and_get(lease, bytes);
        node.waiting = 0;
        node.under_way = 1;
        advance();
        look();
    }

    /// A phase whose turn is called back: nobody begins a round from `round` on.
    void begin_and_call_back(uint64_t round = 1) {
        join();
        begin();
        hear(recall{7});
        hear(stop{7, round});
    }

    /// The phase has stopped, for one more call that waits.
    void stop_for_a_call_that_waits() {
        begin_and_call_back();
        node.under_way = 0;
        node.waiting = 1;
        advance();
    }

    template <class Message>
    static std::string line_of(const Message& m) {
        std::string text(Message::type);
        if constexpr (requires { m.phase; }) text += " phase " + std::to_string(m.phase);
        if constexpr (requires { m.lease; })
            if (m.lease != 0) text += " lease " + std::to_string(m.lease);
        if constexpr (requires { m.bytes_moved; })
            if (m.bytes_moved != 0) text += " moved " + std::to_string(m.bytes_moved);
        if constexpr (requires { m.round; })
            if (m.round != 0) text += " round " + std::to_string(m.round);
        if constexpr (requires { m.targets; })
            for (size_t i = 0; i < m.targets.size(); ++i)
                text += (i == 0 ? " targets " : " ") + std::to_string(m.targets[i]);
        if constexpr (requires { m.in_s; })
            if (m.probability == 0) text += " nothing";
        if constexpr (requires { m.processes; }) text += " processes " + std::to_string(m.processes);
        return text;
    }

    double now_s = 1000;
    registration job;
    std::optional<turn_agent> agent;
    node_state node;
    agent_effects last;
    transcript said;
    int looks = 0;
    bool heartbeats = false;
    bool cleans_up_at_once = true;  ///< there is nothing in the caches at the end of a phase
    std::function<void()> at_hold;
    std::function<void()> at_close;  ///< once
};

}  // namespace halcyon::coordinate
