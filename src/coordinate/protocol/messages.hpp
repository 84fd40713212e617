#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coordinate/protocol/operation.hpp"

/// What agents, operators and the coordinator of a file system tell each other: one JSON object a line, its field
/// `type` names the message. Times are durations in seconds, never times of day: clocks of nodes differ and step. Sizes
/// are in bytes. Fields marked with ? may be left out; unknown fields are ignored. Ranges of all fields: fields.hpp.
namespace halcyon::coordinate {

inline constexpr int64_t protocol_version = 1;
/// A lease is of no use any more when nothing was heard of its coordinator for so long: another one may have been
/// elected. Where `settings::dead_s` and `relearn_s` are at least as long, nobody moves beside the next holder.
inline constexpr double lease_silence_s = 0.5;
/// Between two tries of an agent to connect.
inline constexpr double reconnect_s = 0.25;
/// Of a line, without its end.
inline constexpr size_t longest_line = size_t{64} << 10U;
/// Of a node, at one coordinator.
inline constexpr uint64_t most_mounts = 64;

// Agent to coordinator.

/// The first message of an agent; once more, when its counts have grown. Answered by `registered` or `refused`.
struct registration {
    static constexpr std::string_view type = "register";
    int64_t version = protocol_version;
    std::string job = {};
    int64_t processes = 1;  ///< of the whole job as far as the agent knows: the largest number of its agents counts
    int64_t nodes = 1;      ///< likewise
    std::string node = {};
    uint64_t mount = 0;        ///< ? of those of the node: a coordinator of several hears of each by a connection
    std::string account = {};  ///< ? who pays
    std::string secret = {};   ///< a random token of the job: an agent that does not show it is none of this job's
    bool operator==(const registration&) const = default;
};

/// An I/O phase of this agent begins and waits for the turn, or what is known of it has changed. What an application
/// wants is the sum over its agents of bytes, demand and weight, and the longest of the times. No number here is for
/// all agents: phases are counted by each agent.
struct inform {
    static constexpr std::string_view type = "inform";
    uint64_t phase = 1;  ///< rises
    coordinate::operation operation = operation::write;
    int64_t bytes_left = 0;              ///< ? 0: not known
    int64_t bytes_moved = 0;             ///< ? of this phase so far
    double alone_s = 0;                  ///< ? duration of the whole phase without others; 0: not known
    double left_s = 0;                   ///< ? of it; 0: not known
    double demand = 1;                   ///< ? share of the storage's bandwidth that it takes alone
    double weight = 1;                   ///< ? requests under way
    double between_starts_s = 0;         ///< ? mean time between the starts of phases; 0: not known
    std::vector<uint32_t> targets = {};  ///< ? storage targets; none: all of them
    uint64_t round = 0;                  ///< ? the highest that any writer of this node has begun
    uint64_t lease = 0;                  ///< ? that the agent has: a standing one, or one of a coordinator that is gone
    uint64_t fence = 0;                  ///< ? the highest fencing number that it has seen
    bool operator==(const inform&) const = default;
};

/// The next phase, by forecast. A later one replaces it; an `inform` ends it.
struct expect {
    static constexpr std::string_view type = "expect";
    double in_s = 0;
    double deviation_s = 0;  ///< ?
    double probability = 1;  ///< ?
    double alone_s = 0;      ///< ?
    int64_t bytes = 0;       ///< ?
    double demand = 1;       ///< ?
    bool operator==(const expect&) const = default;
};

/// At least each heartbeat while bytes move, and when half of the granted bytes have been moved.
struct progress {
    static constexpr std::string_view type = "progress";
    uint64_t phase = 1;
    uint64_t lease = 0;       ///< ? under which they moved; 0: unasked, since nobody answered
    int64_t bytes_moved = 0;  ///< since the `progress` before, or the begin of the phase
    int64_t bytes_left = 0;   ///< ? 0: not known
    double left_s = 0;        ///< ? without others; 0: not known
    double speed = 0;         ///< ? relative to the speed alone; 0: not known
    double speed_s = 0;       ///< ? so long ago began the time that `speed` is about; 0: with `over_s`
    double over_s = 0;        ///< ? time that `bytes_moved` is about, by the agent's clock; 0: not known
    int64_t under_way =
        0;  ///< ? calls that have begun, their bytes told, and not ended; 1 more while caches are cleaned
    bool operator==(const progress&) const = default;
};

/// Answers `recall`: the highest round that any writer of this node has begun, 0 where none is in a phase. From then on
/// no writer of this node begins a higher one until `stop` has come, which may let it go on to a round that others of
/// the job have begun. Without that, the round of `stop` might have been begun before it arrives.
struct stopping {
    static constexpr std::string_view type = "stopping";
    uint64_t lease = 0;
    uint64_t round = 0;
    bool operator==(const stopping&) const = default;
};

/// The writers of this node have stopped, and no byte of the lease is moving, client caches included.
struct stopped {
    static constexpr std::string_view type = "stopped";
    uint64_t lease = 0;
    bool operator==(const stopped&) const = default;
};

/// The phase is over.
struct release {
    static constexpr std::string_view type = "release";
    uint64_t phase = 1;
    bool operator==(const release&) const = default;
};

/// This agent's job ends.
struct withdraw {
    static constexpr std::string_view type = "withdraw";
    bool operator==(const withdraw&) const = default;
};

/// Both ways, when nothing else was said for `registered::heartbeat_s`.
struct heartbeat {
    static constexpr std::string_view type = "heartbeat";
    bool operator==(const heartbeat&) const = default;
};

// Administrator to coordinator.

/// Answered by `load`, one `application_line` for each application, one `reservation` for each, and `end`.
struct top {
    static constexpr std::string_view type = "top";
    bool operator==(const top&) const = default;
};

/// Answered by the latest `n` decisions as `decided`, oldest first, and `end`.
struct explain {
    static constexpr std::string_view type = "explain";
    int64_t n = 10;  ///< ?
    bool operator==(const explain&) const = default;
};

/// A batch system is about to start this job for `user`: nobody else may register it, or any name that begins with its
/// name and a dot. Whoever has done so already is refused and closed. Answered by `end`. Once more: replaces it.
struct reserve {
    static constexpr std::string_view type = "reserve";
    std::string job = {};
    int64_t user = 0;
    int64_t processes = 0;  ///< ? the most that are believed of it; 0: not known
    int64_t nodes = 0;      ///< ? likewise
    bool operator==(const reserve&) const = default;
};

/// The batch system's job is over: its reservation, and all applications of its name or below, with their turns.
/// Answered by `over`, if anything of it was known, and `end`.
struct ended {
    static constexpr std::string_view type = "ended";
    std::string job = {};
    bool operator==(const ended&) const = default;
};

using to_coordinator = std::variant<registration, inform, expect, progress, stopping, stopped, release, withdraw,
                                    heartbeat, top, explain, reserve, ended>;

// Coordinator to agent.

struct registered {
    static constexpr std::string_view type = "registered";
    uint64_t application = 0;
    double heartbeat_s = 0;
    double lease_s = 0;       ///< leases are as many bytes as move in this time
    uint64_t epoch = 0;       ///< of this coordinator: the upper half of its fencing numbers
    double starvation_s = 0;  ///< after so long a wait it stops others for the application; 0: it does not say
    double stop_s = 0;        ///< and these have so long to stop
    bool operator==(const registered&) const = default;
};

/// The connection is closed behind it. Only a daemon that stands by, of several that are elected, may be asked again at
/// once: any may have the lead by then.
struct refused {
    static constexpr std::string_view type = "refused";
    std::string reason = {};
    double again_s = 10;  ///< ? an agent asks again after so long, and doubles that with each refusal; 0: at once
    bool operator==(const refused&) const = default;
};

/// A message that was not understood, and is as good as never sent. The connection stays.
struct error_report {
    static constexpr std::string_view type = "error";
    std::string reason = {};
    bool operator==(const error_report&) const = default;
};

/// This agent's node may move `bytes` from now on, of whichever of its phases; what is left of an earlier grant is
/// replaced, not added. Renewed before they are used up. `lease` stays the same throughout a turn. `fence` rises with
/// every grant of this file system, also across coordinators: agents refuse one below the highest they have seen.
struct grant {
    static constexpr std::string_view type = "grant";
    uint64_t phase = 1;  ///< of the agent: without a phase it is given nothing
    uint64_t lease = 0;
    int64_t bytes = 0;
    uint64_t fence = 0;
    bool operator==(const grant&) const = default;
};

/// Asks every agent of the application for `stopping`. An agent that has no such lease, or nothing that moves under it,
/// answers with `stopped` as well.
struct recall {
    static constexpr std::string_view type = "recall";
    uint64_t lease = 0;
    bool operator==(const recall&) const = default;
};

/// No writer may begin this round: it is one above all that any agent has told, so that no collective is split.
struct stop {
    static constexpr std::string_view type = "stop";
    uint64_t lease = 0;
    uint64_t round = 0;
    bool operator==(const stop&) const = default;
};

/// The lease is of no use any more, since its application did not answer or move for too long. To move on, it must ask
/// anew (`inform`). Or the agent answered a `recall` of a turn that it had given back before it heard of that.
struct voided {
    static constexpr std::string_view type = "voided";
    uint64_t lease = 0;
    std::string reason = {};
    bool operator==(const voided&) const = default;
};

/// Nobody else uses this storage: the next phase may begin without asking; its `inform` names the lease. May be
/// recalled.
struct standing {
    static constexpr std::string_view type = "standing";
    uint64_t lease = 0;
    int64_t bytes = 0;
    uint64_t fence = 0;
    bool operator==(const standing&) const = default;
};

/// The phase has to wait for its turn: once when that begins, and when the expected wait has changed by a quarter.
struct wait {
    static constexpr std::string_view type = "wait";
    uint64_t phase = 0;
    double expected_s = 0;
    std::vector<std::string> holders = {};  ///< jobs that have the turn at its storage, the first eight
    int64_t in_phase = 0;                   ///< ? applications that are in a phase, this one included; 0: not known
    bool operator==(const wait&) const = default;
};

/// So many other applications that share storage with this one move, too: when that has changed. None is told of at
/// first, when a turn begins or an agent has registered. Who began a phase under a standing turn hears once, too, that
/// it is not the only one any more.
struct company {
    static constexpr std::string_view type = "company";
    uint64_t lease = 0;
    int64_t others = 0;
    int64_t registered = 0;  ///< ? other applications; 0: none, or not told
    bool operator==(const company&) const = default;
};

// Coordinator to administrator.

/// The file system as a whole.
struct load {
    static constexpr std::string_view type = "load";
    std::string rule = {};
    std::string metric = {};
    uint64_t epoch = 0;
    int64_t applications = 0;
    int64_t moving = 0;
    int64_t waiting = 0;  ///< never moved, or interrupted
    double bytes_per_s = 0;
    double unseen_share = 0;  ///< of the bandwidth, taken by writers without Halcyon
    uint64_t decisions = 0;
    std::vector<std::string> counts = {};  ///< of everything dropped, refused, timed out: "refused_claims 3"
    bool operator==(const load&) const = default;
};

struct application_line {
    static constexpr std::string_view type = "application";
    uint64_t application = 0;
    std::string job = {};
    int64_t user = 0;
    std::string account = {};
    int64_t processes = 0;
    int64_t nodes = 0;
    int64_t agents = 0;
    std::string state = {};  ///< "waiting", "moving", "being stopped" …
    int64_t bytes_left = 0;
    double left_s = 0;
    double in_state_s = 0;
    double expected_wait_s = 0;
    uint64_t lease = 0;
    bool operator==(const application_line&) const = default;
};

/// A job that was reserved, and has not ended.
struct reservation {
    static constexpr std::string_view type = "reservation";
    std::string job = {};
    int64_t user = 0;
    int64_t processes = 0;  ///< 0: not known
    int64_t nodes = 0;      ///< likewise
    double since_s = 0;
    bool operator==(const reservation&) const = default;
};

struct decided {
    static constexpr std::string_view type = "decided";
    double ago_s = 0;
    std::string why = {};
    std::string text = {};               ///< for people: who moves, who stops, who waits
    std::vector<std::string> move = {};  ///< jobs
    std::vector<std::string> stop = {};
    std::vector<std::string> ways = {};  ///< alternatives that were compared
    std::vector<double> costs = {};      ///< of each, by forecast
    double observed_cost = -1;           ///< of the same applications, once all phases have ended; -1: not yet
    // What was believed of those that wanted the storage, 16 at most: first of those that move or stop, each in the
    // order of arrival.
    std::vector<std::string> jobs = {};
    std::vector<double> left_s = {};   ///< of the phase of each, without others
    std::vector<double> demands = {};  ///< share of the storage that each takes alone
    double unseen_share = 0;           ///< of the storage, taken by writers without Halcyon
    bool operator==(const decided&) const = default;
};

/// Of a job that the batch system has ended.
struct job_over {
    static constexpr std::string_view type = "over";
    int64_t applications = 0;  ///< that it had
    bool operator==(const job_over&) const = default;
};

/// Of an answer of several lines.
struct end {
    static constexpr std::string_view type = "end";
    bool operator==(const end&) const = default;
};

using from_coordinator = std::variant<registered, refused, error_report, grant, recall, stop, voided, standing, wait,
                                      company, heartbeat, load, application_line, reservation, decided, job_over, end>;

}  // namespace halcyon::coordinate
