#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "policy/application.hpp"
#include "policy/interference.hpp"
#include "policy/ledger.hpp"
#include "policy/metric.hpp"

namespace halcyon::policy {

/// Who has the turn among applications that want the same storage.
enum class rule : uint8_t {
    interfere,   ///< all
    fcfs,        ///< who arrived first
    interrupt,   ///< who arrived last
    delay,       ///< as fcfs; the next joins as soon as those before it tolerate that
    fair_share,  ///< the account that had the least for its weight lately, in slices
    set_10,      ///< IO-Sets (Boito et al. 2023): sets by the time between phases, in slices by priority
    dynamic,     ///< whoever it takes to make the metric least
};

/// Bounds of decisions. A value that makes no sense counts as the default.
struct settings {
    /// Nobody waits longer in one piece, whatever the rule.
    double starvation_s = 30;
    /// A turn that was given since its application had waited that long lasts so long at least.
    double relief_s = 2;
    /// A turn under fair_share and set_10, after which somebody else may have it.
    double slice_s = 0.5;
    /// The interference factor that those who arrived first tolerate under delay.
    double tolerated_factor = 1.25;
    /// Under dynamic, interrupting those that move counts as so much time in which all that are present wait: until the
    /// calls under way are over, the caches are clean and others have begun. Gains below that do not end a turn.
    double interruption_s = 0.01;
    /// Under dynamic, for groups of up to 12: nor does a gain below this share of the cost that is left, since
    /// forecasts are not as exact.
    double least_gain = 0;
    /// Under delay, nobody is let in beside those it shares storage with before it has been there for so long: its
    /// processes begin one after the other, and until all have, it seems to take less from the others than it will.
    double all_begin_within_s = 0;
    /// Under dynamic, nobody is interrupted for one that has not been there for so long, unless its weight is that of
    /// all of its processes: as long as few of them have begun, it seems to need less time than it will.
    double interrupts_after_s = 0;
    /// Expected phases that are less probable do not count.
    double least_probability = 0.5;
    /// Positions that a decision of dynamic looks at, at most, in all groups of up to 12 applications: bounds its time
    /// where it is hard. Each group has an equal part of what those before it have left, and 16 in any case.
    uint64_t search_positions = 100'000;
    /// Likewise, what is left of a bound for many decisions. A search that this one ends has a reason of its own.
    uint64_t search_budget = UINT64_MAX;
    /// Asks again after so long at the latest, since forecasts change.
    double ask_again_s = 1;
    /// Whether to predict the cost of alternatives, for explanations.
    bool alternatives = true;
    bool operator==(const settings&) const = default;
};

/// All that a decision depends on. Spans and pointers are only read during the call.
struct situation {
    std::span<const application> applications;  ///< in any order
    const interference* learned = nullptr;      ///< null: all share proportionally
    const ledger* accounts = nullptr;           ///< null: nobody had anything; keys: account
    const ledger* sets = nullptr;               ///< likewise; keys: set_of()
    double unseen_share = 0;                    ///< of the bandwidth, taken by writers without Halcyon
};

/// The set of set-10: log10 of the mean time between the starts of an application's phases, rounded, from -3 to 6.
/// Where that is not known yet, of the time alone, which is shorter.
int64_t set_of(const application& one);

/// Why the turn is with those that have it.
enum class reason : uint8_t {
    alone,          ///< nobody else wants this storage
    all_interfere,  ///< interfere
    first_come,     ///< fcfs
    newest,         ///< interrupt
    tolerated,      ///< delay: the first, and those whose overlap it tolerates
    delayed,        ///< delay: the next would slow those before it down too much for now
    least_served,   ///< fair_share, set_10: had the least for its weight
    slice_goes_on,  ///< fair_share, set_10: its slice has not ended
    smiths_rule,  ///< dynamic: overlaps never gain, all are there, no interruption costs; highest cost per second left
    least_cost,   ///< dynamic: the best of all orders, preemptions and overlaps
    heuristic_cost,  ///< dynamic, too many to look at all of them: the best of those looked at
    search_budget,   ///< likewise, since the decisions before it have looked at too many (settings::search_budget)
    starving,        ///< somebody has waited for as long as anybody may
};

/// Names for users, as `halcyon coordinator explain` prints them: "first-come".
const char* name_of(reason why);
/// "fair-share".
const char* name_of(rule which);
/// "sum-of-times".
const char* name_of(metric of);

/// One way to go on for a group of applications, and the value of the metric that it leads to by forecast: over the
/// applications looked at, from their arrivals to their ends.
struct alternative {
    rule way = rule::interfere;  ///< the rule that would go this way; dynamic: the one chosen
    double cost = 0;
};

/// Applications of which each shares storage with another: decided together.
struct group_decision {
    reason why = reason::alone;
    uint32_t applications = 0;        ///< present ones
    uint32_t expected = 0;            ///< expected ones that counted
    uint64_t first_id = 0;            ///< the least id of the present ones
    uint32_t alternatives_begin = 0;  ///< in decision::alternatives
    uint32_t alternatives_end = 0;
};

struct decision {
    std::vector<uint64_t> move;  ///< may move from now on, in the order of arrival; includes those that do already
    std::vector<uint64_t> stop;  ///< move, and have to stop
    double ask_again_s = 0;      ///< decide again at this time at the latest, or when anything changes
    uint64_t positions = 0;      ///< that searches looked at, of settings::search_positions
    std::vector<group_decision> groups;     ///< by their first arrival
    std::vector<alternative> alternatives;  ///< of all groups
};

/// Decides, again and again, without allocating once its memory fits. Nothing of a decision outlives it: it depends on
/// its arguments only. Ties: who arrived first, then the least id. Applications with disjoint targets never wait for
/// one another. Not for several threads at once.
class decider {
  public:
    decider();
    ~decider();
    decider(decider&&) noexcept;
    decider& operator=(decider&&) noexcept;

    /// Valid until the next call.
    const decision& decide(const situation& of, rule by, metric minimise, double now_s, const settings& how = {});

  private:
    struct workspace;
    std::unique_ptr<workspace> work_;
};

/// One decision.
decision decide(const situation& of, rule by, metric minimise, double now_s, const settings& how = {});

}  // namespace halcyon::policy
