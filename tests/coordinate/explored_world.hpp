#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/state_digest.hpp"

namespace halcyon::coordinate {

/// One step of an application's program at one file system.
struct step {
    enum class kind : uint8_t { begin, round, end };
    kind what = kind::begin;
    uint8_t storage = 0;
};

struct scenario {
    policy::rule rule = policy::rule::fcfs;
    size_t storages = 1;
    std::vector<std::vector<step>> programs;  ///< of each application
    std::vector<uint8_t> agents;  ///< of each application; all of them run its program, rounds are collective
    size_t first_late = 255;      ///< applications from this one on connect at any time, the others before all
    int disconnects = 0;
    size_t first_to_lose = 0;   ///< number of the first agent whose connection may break
    size_t last_to_lose = 255;  ///< and of the last
    int restarts = 0;
    int ticks = 0;  ///< at any moment; besides, time passes whenever nothing else can happen
    double stalled_s = 2;
    bool hand_back = true;  ///< who has to wait at one storage first hands back the turn at others
};

/// Coordinators, agents, and messages under way between them, all of which go on by one step at a time. The
/// coordinators are the real ones. Agents are as the protocol has them:
/// - a round begins only with the turn and below the round of a `stop`, and in a collective only when all others have
///   ended theirs before; it ends only when all have begun it;
/// - who is connected no more believes in its lease for as long as the coordinator does, and not longer (the agent of
///   src/coordinate/agent measures that by the silence);
/// - a lower fencing number than one seen is refused.
class world {
  public:
    explicit world(const scenario& of);

    /// What can happen next, by number; apply() does one of them. Stable for equal states.
    struct action {
        enum class kind : uint8_t { to_agent, to_coordinator, act, connect, disconnect, restart, tick, wait };
        kind what = kind::act;
        size_t agent = 0;
        size_t storage = 0;
        [[nodiscard]] std::string text() const;
    };
    [[nodiscard]] std::vector<action> possible() const;
    void apply(const action& which);
    [[nodiscard]] bool done() const;
    /// Empty: all is well. Else what must never be.
    [[nodiscard]] std::string violation() const;
    [[nodiscard]] digest::value hash() const;
    [[nodiscard]] std::string text() const;

  private:
    /// Of an agent to one coordinator.
    struct link {
        connection_id connection = 0;
        /// Vectors, since most are empty: each state is copied, and an empty deque has memory.
        std::vector<from_coordinator> in;
        std::vector<to_coordinator> out;
        uint64_t phase = 0;  ///< number of the latest
        bool in_phase = false;
        bool may_move = false;
        bool standing = false;
        uint64_t lease = 0;  ///< that it has, or that its phase had last
        uint64_t fence = 0;
        uint64_t stop_before = 0;  ///< 0: no stop
        bool stop_known = false;   ///< not yet: the node has told its round, and begins no higher one
        uint64_t called_back = 0;  ///< lease that it has given back, and was asked to stop: no phase is told meanwhile
        bool untold = false;       ///< a phase has begun meanwhile
        int offline_ticks = 0;
    };
    struct application_agent {
        size_t application = 0;
        size_t at = 0;  ///< next step of the program
        uint64_t round = 0;
        bool in_round = false;
        bool left = false;
        std::vector<link> links;
    };

    [[nodiscard]] const std::vector<step>& program(const application_agent& of) const {
        return how_->programs[of.application];
    }
    [[nodiscard]] bool ended(const application_agent& of) const { return of.at == program(of).size(); }
    [[nodiscard]] bool can_act(const application_agent& of) const;
    [[nodiscard]] bool must_hand_back(const application_agent& of, size_t storage) const;
    void act(application_agent& of);
    void begin_phase(application_agent& of, link& by);
    void inform_at(application_agent& of, link& by, uint64_t shown_lease);
    void heard(application_agent& of, size_t storage, const from_coordinator& message);
    void stop_if_due(application_agent& of, link& by);
    void end_call_back(application_agent& of, link& by);
    static void drop_turn(link& by);
    void connect(application_agent& of, size_t storage);
    void settle(size_t storage);
    void tick();
    [[nodiscard]] bool is_about_to_know(const link& by) const;

    const scenario* how_;
    std::vector<coordinator> told_;
    std::vector<application_agent> agents_;
    double now_s_ = 0;
    connection_id last_connection_ = 0;
    int disconnects_;
    int restarts_;
    int ticks_;
    int waited_ = 0;  ///< ticks in a row in which nothing else could happen
    std::vector<uint64_t> highest_fence_;
    std::string violation_;
};

}  // namespace halcyon::coordinate
