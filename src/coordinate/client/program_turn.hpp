#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "coordinate/client/turn_waiting.hpp"
#include "coordinate/page/page.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/page/phase_targets.hpp"
#include "coordinate/protocol/operation.hpp"

namespace halcyon::coordinate {

/// What may end the wait of a program before its turn has come. Asked each time that the wait wakes up: about every 50
/// ms, and behind each handler of a signal that ran in the waiting thread.
struct interruption {
    int (*has_come)(void* of) = nullptr;  ///< 0: no. Null: nothing ends the wait
    void* of = nullptr;
};

/// The turn that a program takes by itself at one file system, instead of waiting in each of its calls.
///
///     idle -- announce() --> asking -- try_take(), take(), join() --> holding -- give_back() --> idle
///
/// In the page, one that asks counts in process_part::waiting, one that holds the turn in process_part::under_way, so
/// that the agent sees one phase from the announcement to the end, and waits for the end when the turn is called back.
/// While take(), join() or step() sleep, one that asks counts in program_turns::part::blocked, too: only then does the
/// agent give back what the job has at other file systems.
/// From its announcement to its end, its storage targets count (page/phase_targets.hpp), too. Under a turn that is for
/// listed targets it does not begin before the coordinator has heard of its own.
/// One that goes on out of turn counts in neither (page.hpp: under_way and the turn's word). Nor does one whose wait
/// was interrupted: its phase stays announced, and asks for the turn again when that is tried or waited for.
///
/// Of one process; several of them may be at one file system, in several threads. Calls of a layer in the process go on
/// while one of them holds the turn. Where there is no layer, the system's account says how much was moved.
/// A child that a handler of a signal forks off in a wait comes back without the turn, and leaves what counts to its
/// parent.
class program_turn {
  public:
    enum class stage : uint8_t { idle, asking, holding };

    void start(page& shared, process_slot& slot, size_t file_system);
    [[nodiscard]] stage at() const { return stage_; }

    /// A phase begins. `coming`: what is known of it, if anything is; its times are set here. `targets`: storage
    /// targets that it will use, in ascending order, each once; none: not known.
    void announce(operation what, const std::optional<phase_forecast>& coming, std::span<const uint32_t> targets = {});
    /// What is known has changed. Where nothing is any more, the layer's forecasts count again.
    void tell(const std::optional<phase_forecast>& coming);
    /// A phase that was announced uses these, too.
    void add_targets(std::span<const uint32_t> targets);
    /// After a wait that was interrupted; at other times nothing is done.
    void ask_again();

    /// Takes the turn if that can be done at once. A load where it cannot; no system call but to wake the agent, and to
    /// ask for file locks of which a process of the job has inherited all that it holds.
    bool try_take();
    /// Waits for it: until it is this application's; nobody answers for page::patience_ns; or for
    /// shared_file_system::starvation_ns. False: it was interrupted.
    bool take(interruption by = {});
    /// Takes part in a turn that another process of the application has: waits for page::patience_ns at most.
    /// Likewise.
    bool join(interruption by = {});
    /// While holding: one load. False: others are to have it, and step() would wait.
    [[nodiscard]] bool is_kept() const;
    /// Between two accesses while holding: gives way if others are to have the turn, and takes it again. False: it was
    /// interrupted when it had given way.
    bool step(interruption by = {});
    /// From any stage.
    void give_back();

    /// Since start(), all waits together; and how often it went on out of turn, for want of an answer or of a turn.
    [[nodiscard]] int64_t waited_ns() const { return waited_ns_; }
    [[nodiscard]] uint64_t steps_unasked() const { return unasked_; }
    [[nodiscard]] uint64_t steps_starving() const { return starving_; }
    /// process_part::begun_ns, or when the turn was last given way.
    [[nodiscard]] int64_t asked_ns() const { return asked_ns_; }

  private:
    class waiting_phase;

    void ask();
    void ask_no_more();
    void block();
    [[nodiscard]] bool enter(bool follows);
    void hold(passage how);
    void settle();
    [[nodiscard]] int64_t moved() const;
    [[nodiscard]] bool are_targets_told() const;
    [[nodiscard]] turn_place place() const { return {*shared_, *here_, *part_}; }
    [[nodiscard]] bool wait_until_taken(bool follows, int64_t most_ns, interruption by);

    page* shared_ = nullptr;
    shared_file_system* here_ = nullptr;
    process_slot* slot_ = nullptr;
    size_t file_system_ = 0;
    process_part* part_ = nullptr;
    program_turns::part* own_ = nullptr;
    stage stage_ = stage::idle;
    bool asks_ = false;        ///< it counts in the page as one that asks
    bool is_blocked_ = false;  ///< likewise, its wait
    passage how_ = passage::under_lease;
    int64_t asked_ns_ = 0;
    std::optional<int64_t> counted_before_;  ///< bytes of the process when it announced; none: it has waited since
    int64_t waited_ns_ = 0;
    uint64_t unasked_ = 0, starving_ = 0;
};

}  // namespace halcyon::coordinate
