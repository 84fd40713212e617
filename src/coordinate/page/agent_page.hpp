#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/shared_memory.hpp"
#include "coordinate/page/moved_in_step.hpp"
#include "coordinate/page/node_state.hpp"
#include "coordinate/page/observed_targets.hpp"
#include "coordinate/page/page.hpp"
#include "coordinate/page/replaced_programs.hpp"

namespace halcyon::coordinate {

/// The page from its agent's side.
class agent_page {
  public:
    struct settings {
        std::vector<std::string> mounts;  ///< absolute, without a slash at the end
        double patience_s = 1;
        double starvation_s = 36;  ///< the usual 30 s of coordinators, their usual 5 s for a stop, and 1 s
        double pause_s = 0.01;
        uint32_t least_burst = 64;
    };
    /// Failure (usage): too many mounts, or too long a path. (system): no memory.
    static result<agent_page> create(const settings& wanted);

    [[nodiscard]] page& shared() const { return *reinterpret_cast<page*>(memory_.data()); }
    [[nodiscard]] int fd() const { return memory_.fd(); }
    [[nodiscard]] size_t file_systems() const { return published_.size(); }

    /// Changes the turn and wakes who waits for it. `stop_round`: with permission::stop. `bytes`: of the lease, in
    /// place of what is left of the one before.
    void publish(size_t file_system, permission to, uint64_t stop_round, std::optional<int64_t> bytes);
    /// Whether somebody else has replaced the turn that was published last.
    [[nodiscard]] bool was_replaced(size_t file_system) const;
    /// For people: who has the turn, how long it may take, and how many jobs are in a phase (0: not known).
    void tell_wait(size_t file_system, double expected_s, const std::vector<std::string>& holders, int64_t in_phase);
    /// Likewise: why the coordinator gives no turns; "": not known, or it does.
    void tell_no_turn_reason(size_t file_system, const std::string& why);
    /// For programs that have announced a phase: the turn is for listed targets. `told`: the coordinator has heard of
    /// those of all phases that were seen at the last look.
    void tell_targets(size_t file_system, bool are_listed, bool told);
    /// No call waits longer.
    void limit_waits(size_t file_system, double longest_s);
    /// Whether other applications move there, too.
    void tell_others_move(size_t file_system, bool others);
    void heard(size_t file_system, int64_t now_ns);
    void beat(int64_t now_ns) { shared().beat_ns.store(now_ns, std::memory_order_release); }

    /// What the processes do there now. `stop_round`: as published.
    [[nodiscard]] node_state observe(size_t file_system, uint64_t stop_round, int64_t now_ns) const;

    /// Looks which processes live, and which have become another program: what that one has left in the middle of calls
    /// counts no more. Gives back the places of processes that are dead; how many. `untold` sees those that died before
    /// they had written their facts.
    size_t free_dead(const std::function<void(const process_slot&)>& untold = {});
    /// Processes that have not written their facts.
    [[nodiscard]] size_t untold() const;
    [[nodiscard]] size_t processes() const;
    /// Their numbers.
    [[nodiscard]] std::vector<int> process_ids() const;

  private:
    std::vector<uint32_t> published_;
    mutable moved_in_step moved_in_step_;
    mutable std::vector<observed_targets> targets_;  ///< by file system
    replaced_programs replaced_;
    shared_memory memory_;
};

}  // namespace halcyon::coordinate
