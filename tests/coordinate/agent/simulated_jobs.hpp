#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "coordinate/agent/turn_agent.hpp"
#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/rounds.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "coordinate/protocol/json.hpp"

/// Jobs whose agents talk to a coordinator, in simulated time: the agents, the coordinator, the pages and the messages
/// are the real ones; the processes do by steps what the layer does.
namespace halcyon::coordinate {

/// One process: a phase of equal calls, each of which takes a step. As aggregator of collective calls it counts
/// rounds.
class simulated_process {
  public:
    static constexpr int64_t call_bytes = 1 << 20;

    simulated_process(page& shared, uint64_t owner) : shared_(&shared), part_(&claim_slot(shared, owner)->at[0]) {}

    /// `transfers`: under each collective call; 0: writes on its own account.
    void begin_phase(int calls, uint64_t transfers) {
        calls_ = calls;
        transfers_ = transfers;
        done_in_collective_ = 0;
        part_->begun.fetch_add(1);
        shared_->bell.word = agent_bell::awake;
    }
    [[nodiscard]] bool has_ended() const { return calls_ == 0; }
    [[nodiscard]] bool is_moving() const { return part_->under_way > 0; }
    [[nodiscard]] bool waits() const { return part_->waiting > 0; }
    /// Rounds that it has done.
    [[nodiscard]] uint64_t done() const { return done_; }
    [[nodiscard]] uint64_t round() const { return part_->round; }

    /// Of the same collective calls: between rounds they exchange what the next one moves.
    void exchanges_with(const simulated_process& other) { peer_ = &other; }

    void end_call() {
        if (!is_moving()) return;
        part_->under_way = 0;
        ++done_;
        if (transfers_ > 0 && ++done_in_collective_ == transfers_) {
            part_->aggregates = 1;
            part_->inside = rounds::none;
            done_in_collective_ = 0;
        }
        --calls_;
    }
    void begin_call() {
        if (calls_ == 0 || is_moving()) return;
        if (transfers_ > 0 && part_->inside == rounds::none) {
            part_->inside = rounds::of(++collectives_, 0);
            return;
        }
        if (peer_ != nullptr && (done_ > peer_->done_ || collectives_ > peer_->collectives_)) return;
        if (transfers_ > 0) part_->round = part_->inside + done_in_collective_ + 1;
        const bool goes = may_go();
        part_->waiting = goes ? 0 : 1;
        part_->under_way = goes ? 1 : 0;
    }

  private:
    bool may_go() {
        shared_file_system& here = shared_->file_system[0];
        const uint32_t word = here.turn;
        if (turn_word::goes_under_lease(word)) {
            if (here.pool <= 0) return false;
        } else if (turn_word::state(word) == permission::stop) {
            if (transfers_ == 0 || part_->round >= here.stop_round) return false;
        } else if ((word & turn_word::holds) != 0) {
            return false;
        } else {
            part_->unasked.fetch_add(call_bytes);
            return true;
        }
        here.pool.fetch_sub(call_bytes);
        part_->moved.fetch_add(call_bytes);
        return true;
    }

    page* shared_;
    process_part* part_;
    const simulated_process* peer_ = nullptr;
    int calls_ = 0;
    uint64_t transfers_ = 0;
    uint64_t collectives_ = 0, done_in_collective_ = 0, done_ = 0;
};

/// A node of a job.
struct simulated_node {
    simulated_node(const std::string& job, const std::string& node, int processes, double now_s)
        : shared(agent_page::create({.mounts = {"/scratch"}}).value()),
          agent({.job = registration_of(job, node)}, now_s) {
        for (int i = 1; i <= processes; ++i) all.emplace_back(shared.shared(), static_cast<uint64_t>(i));
    }
    static registration registration_of(const std::string& job, const std::string& node) {
        registration what;
        what.job = job;
        what.node = node;
        what.secret = "a secret of 16 bytes or more, of " + job;
        return what;
    }
    [[nodiscard]] bool is_moving() const {
        for (const simulated_process& one : all)
            if (one.is_moving()) return true;
        return false;
    }
    [[nodiscard]] bool has_ended() const {
        for (const simulated_process& one : all)
            if (!one.has_ended()) return false;
        return true;
    }

    agent_page shared;
    turn_agent agent;
    std::vector<simulated_process> all;
    connection_id connection = 0;
    bool cleaning = false;
    /// Calls under way and caches take until then.
    double slow_until_s = 0;
};

/// Messages of each connection, in order; each one is under way for a time of its own.
template <class Message>
class messages_in_flight {
  public:
    void send(connection_id by, Message what, double arrives_s) { all_[by].push_back({arrives_s, std::move(what)}); }
    void drop(connection_id by) { all_.erase(by); }
    /// Those that have arrived.
    template <class Take>
    void deliver(double now_s, Take take) {
        for (auto& [by, messages] : all_)
            for (; !messages.empty() && messages.front().arrives_s <= now_s; messages.pop_front())
                take(by, messages.front().what);
    }

  private:
    struct one {
        double arrives_s = 0;
        Message what;
    };
    std::map<connection_id, std::deque<one>> all_;
};

class simulated_jobs {
  public:
    explicit simulated_jobs(const settings& how, unsigned seed)
        : how_(how), random_(seed), daemon_(std::in_place, how, 1, 0) {}

    simulated_node& add(const std::string& job, const std::string& node, int processes) {
        all_.push_back(std::make_unique<simulated_node>(job, node, processes, now_s));
        connect(*all_.back());
        return *all_.back();
    }
    void connect(simulated_node& one) {
        one.connection = ++last_connection_;
        daemon_->connected(one.connection, 1000, false, now_s);
        one.agent.connected(now_s);
    }
    void cut(simulated_node& one) {
        if (one.connection == 0) return;
        if (daemon_) daemon_->disconnected(one.connection, now_s);
        one.agent.disconnected(now_s);
        said_.drop(one.connection);
        told_.drop(one.connection);
        one.connection = 0;
    }
    void kill_daemon() {
        for (const auto& one : all_) cut(*one);
        daemon_.reset();
    }
    /// It reads nothing and says nothing: what agents say lies in its sockets.
    void stop_daemon() { daemon_is_stopped_ = true; }
    void continue_daemon() {
        daemon_is_stopped_ = false;
        for (const auto& [from, line] : std::exchange(unread_, {})) daemon_->received(from, line, now_s);
    }
    void start_daemon() {
        daemon_.emplace(how_, ++epoch_, now_s);
        for (const auto& one : all_) connect(*one);
    }

    /// A millisecond. In a seeded order: calls end, messages arrive, agents look, calls begin.
    void step() {
        now_s += 0.001;
        deliver();
        for (const auto& one : all_)
            for (simulated_process& process : one->all)
                if (one->slow_until_s <= now_s && chance(0.5)) process.end_call();
        for (const auto& one : all_) run_agent(*one);
        if (daemon_ && !daemon_is_stopped_) run_daemon();
        for (const auto& one : all_)
            for (simulated_process& process : one->all)
                if (chance(0.8)) process.begin_call();
    }
    [[nodiscard]] bool chance(double of) { return std::uniform_real_distribution<>(0, 1)(random_) < of; }
    [[nodiscard]] const coordinator& daemon() const { return *daemon_; }
    [[nodiscard]] const std::vector<std::unique_ptr<simulated_node>>& nodes() const { return all_; }

    double now_s = 0;
    double longest_flight_s = 0;  ///< of a message; 0: it arrives at once
    std::function<void(simulated_node&)> behind_look;
    std::function<void(simulated_node&, const from_coordinator&)> hears;  ///< before the node does

  private:
    void run_agent(simulated_node& one) {
        const auto now_ns = static_cast<int64_t>(now_s * 1e9);
        if (one.cleaning && one.slow_until_s <= now_s && chance(0.3)) {
            one.cleaning = false;
            one.agent.caches_clean();
        }
        for (bool again = true; again;) {
            one.agent.observed(one.shared.observe(0, one.agent.stop_round(), now_ns));
            const agent_effects& todo = one.agent.advance(now_s);
            // A call may begin between the look and the change of the page, as well as behind that.
            if (behind_look) behind_look(one);
            for (simulated_process& process : one.all)
                if (chance(0.2)) process.begin_call();
            if (todo.page) one.shared.publish(0, todo.page->to, todo.page->stop_round, todo.page->bytes);
            if (todo.clean_caches) one.cleaning = true;
            for (simulated_process& process : one.all)
                if (chance(0.2)) process.begin_call();
            if (one.connection != 0 && daemon_)
                for (const to_coordinator& message : todo.messages) hear(one.connection, message);
            again = todo.look_again;
        }
    }
    void hear(connection_id from, const to_coordinator& message) {
        const std::string line = std::get<std::string>(encode(message));
        if (longest_flight_s > 0)
            said_.send(from, line, arrives_s());
        else
            read(from, line);
    }
    void read(connection_id from, const std::string& line) {
        if (daemon_is_stopped_)
            unread_.emplace_back(from, line);
        else
            daemon_->received(from, line, now_s);
    }
    [[nodiscard]] double arrives_s() { return now_s + std::uniform_real_distribution<>(0, longest_flight_s)(random_); }
    void deliver() {
        if (longest_flight_s <= 0) return;
        said_.deliver(now_s, [this](connection_id from, const std::string& line) { read(from, line); });
        told_.deliver(now_s, [this](connection_id to, const std::string& line) { tell(to, line); });
    }
    void run_daemon() {
        const effects& todo = daemon_->advance(now_s);
        for (const effects::outgoing& message : todo.messages) {
            const std::string line = std::get<std::string>(encode(message.message));
            if (longest_flight_s > 0)
                told_.send(message.to, line, arrives_s());
            else
                tell(message.to, line);
        }
    }
    void tell(connection_id to, const std::string& line) {
        for (const auto& one : all_) {
            if (one->connection != to) continue;
            const auto message = std::get<from_coordinator>(decode_from_coordinator(line));
            if (hears) hears(*one, message);
            one->agent.received(message, now_s);
        }
    }

    settings how_;
    std::mt19937 random_;
    std::optional<coordinator> daemon_;
    bool daemon_is_stopped_ = false;
    std::vector<std::pair<connection_id, std::string>> unread_;
    messages_in_flight<std::string> said_, told_;  ///< by agents, and to them
    uint64_t epoch_ = 1;
    connection_id last_connection_ = 0;
    std::vector<std::unique_ptr<simulated_node>> all_;
};

}  // namespace halcyon::coordinate
