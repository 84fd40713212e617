#pragma once

#include <cstdint>

#include "policy/forecast.hpp"
#include "predict/tables/time_alone.hpp"
#include "predict/tables/time_estimate.hpp"

namespace halcyon::predict {

/// Bursts of calls, parted by pauses. A pause is longer than a tenth of the usual long ones, and than `least_pause_ns`.
class phases {
  public:
    explicit phases(int64_t least_pause_ns) : least_pause_(least_pause_ns) {}

    struct call {
        int64_t start_ns = 0;
        int64_t end_ns = 0;
        int64_t wait_ns = 0;  ///< before it, not counted in the gap
        int64_t bytes = 0;
        bool beside_others = false;  ///< see observed_call
    };
    /// A call, after `gap_ns` without any; negative: the first one.
    void learn(int64_t gap_ns, const call& next);

    /// Longer gaps part phases.
    [[nodiscard]] int64_t pause_ns() const;
    [[nodiscard]] uint64_t calls() const { return calls_; }
    [[nodiscard]] uint64_t completed() const { return completed_; }
    // Of the phases that are over; the intervals are from the beginning of one to that of the next.
    [[nodiscard]] const time_estimate& calls_of() const { return calls_of_; }
    [[nodiscard]] const time_estimate& bytes_of() const { return bytes_of_; }
    /// Without waits; of phases while nobody else moved, until there is one of all.
    [[nodiscard]] const time_estimate& durations() const { return duration_of_.estimate(); }
    [[nodiscard]] const time_estimate& intervals() const { return interval_of_; }
    /// When the next one begins if it comes as those before, `now_ns` being the end of the last call; for when no walk
    /// ahead can tell. not_known: there were no two yet.
    [[nodiscard]] int64_t next_by_habit(int64_t now_ns) const;
    /// What is left of this one if it is like those before; for when no walk ahead can tell.
    [[nodiscard]] policy::expected_phase rest_by_habit(int64_t now_ns) const;

    /// For archives: what is known of those that are over.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        archive.number(self.long_pause_);
        for (auto* estimate : {&self.calls_of_, &self.bytes_of_, &self.interval_of_})
            time_estimate::each_field(*estimate, archive);
        time_alone::each_field(self.duration_of_, archive);
        archive.number(self.calls_luck_);
    }

  private:
    int64_t least_pause_;
    int64_t long_pause_ = 0;
    // Of the phase under way.
    uint64_t calls_ = 0;
    int64_t bytes_ = 0;
    int64_t start_ = 0;
    int64_t end_ = 0;
    int64_t waited_ = 0;  // behind its begin
    bool beside_others_ = false;
    // Of those that are over.
    uint64_t completed_ = 0;
    time_estimate calls_of_;
    time_estimate bytes_of_;
    time_alone duration_of_;
    time_estimate interval_of_;  // from the beginning of one to that of the next
    double calls_luck_ = 0;      // share of the last phases that had as many calls as expected
};

}  // namespace halcyon::predict
