#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinate/agent/phase_history.hpp"
#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/periodic_workload.hpp"

namespace halcyon::coordinate {

/// A storage whose bandwidth those that move at the same time divide, as a fluid.
struct storage_model {
    /// n that move at once get 1 / (1 + loss (n - 1)) of the bandwidth together.
    double loss = 0;
    /// From a turn's begin to its first byte: messages, and writers that wake up. The storage is idle meanwhile.
    double turn_begins_s = 0.002;
};

/// Who moves: those to whom a coordinator gives turns, or all, which divide the bandwidth.
enum class division : uint8_t {
    turns,
    equal,  ///< uncoordinated
    sets,   ///< IO-Sets as published: the first of each set, by 10^-set
    /// The one with the least left of its phase, whose volume is known exactly; changes of turn cost nothing. No policy
    /// can be that: a floor to see the others by.
    shortest_first,
};

/// A workload on a storage, from event to event. Agents tell the coordinator what the agents of halcyon run would: how
/// the phases before were, by the same code.
class simulated_workload {
  public:
    simulated_workload(const periodic_workload& of, const settings& how, division by, const storage_model& on = {});

    void run();
    /// Its time up to the horizon over the time that its work so far takes without others.
    [[nodiscard]] double slow_down(size_t application) const;
    /// Time in I/O, waiting included, over the time that its I/O takes without others.
    [[nodiscard]] double io_slow_down(size_t application) const;
    /// Over all phases that ended: mean of the time, waiting included, over the time alone.
    [[nodiscard]] double phase_slow_down() const { return phases_ == 0 ? 1 : factors_ / static_cast<double>(phases_); }
    [[nodiscard]] size_t applications() const { return all_.size(); }
    /// The least number of iterations that an application has ended.
    [[nodiscard]] size_t least_iterations() const;
    [[nodiscard]] uint64_t turns() const { return turns_; }
    /// Turns that the coordinator took away for a fault, or messages that it refused: none is to be expected.
    [[nodiscard]] uint64_t faults() const { return faults_; }

  private:
    struct running {
        const periodic_application* of = nullptr;
        connection_id connection = 0;
        phase_history history;
        size_t iteration = 0;
        bool in_phase = false;
        bool may_move = false;
        bool moved_beside = false;  ///< others, since its last `progress`
        double computes_until_s = 0;
        double arrived_s = 0;
        double moves_from_s = 0;
        double left_s = 0;
        double rate = 0;      ///< of the bandwidth, now
        double worked_s = 0;  ///< as alone, in all
        double io_s = 0;      ///< in I/O, in all
        double io_alone_s = 0;
        double moved_s = 0;  ///< of the phase
        double told_s = 0;   ///< when progress was told last
        double told_moved_s = 0;
        uint64_t phase = 0;
        uint64_t lease = 0;
    };
    void set_rates();
    [[nodiscard]] double weight_of(const running& one) const;
    [[nodiscard]] bool has_least_left(const running& one) const;
    [[nodiscard]] double next_event_s() const;
    void go_to(double at_s);
    void happen();
    void begin(running& one);
    void end(running& one);
    void tell_progress(running& one);
    void tell_expected(running& one);
    void hear(running& one, const from_coordinator& message);
    void settle();

    double horizon_s_;
    division by_;
    storage_model on_;
    std::optional<coordinator> told_;
    std::vector<running> all_;
    double now_s_ = 0;
    double wake_at_s_ = 0;
    uint64_t turns_ = 0;
    uint64_t faults_ = 0;
    uint64_t phases_ = 0;
    double factors_ = 0;  ///< sum over phases
};

}  // namespace halcyon::coordinate
