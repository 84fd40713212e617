#pragma once

#include <cstdint>

#include "coordinate/estimates/begun_bytes.hpp"

namespace halcyon::coordinate {

/// Whether the coordinator was told that a turn is made use of. Of an application on probation it takes a turn back in
/// which nothing is told to move at once (turn_watch.hpp), so the first bytes of each turn do not wait for a heartbeat.
/// Nor do calls that have none, such as a sync at the begin of a phase.
class first_bytes {
  public:
    /// Between looks for them. Less than begun_bytes takes for an interval of its own: the calls that the first bytes
    /// are of count as under way.
    static constexpr double look_s = 0.8 * begun_bytes::least_s;

    /// A turn begins, or a phase under it.
    void begin(double now_s) {
        untold_ = calls_untold_ = true;
        begun_s_ = now_s;
    }
    void told(int64_t bytes) {
        untold_ = untold_ && bytes == 0;
        calls_untold_ = false;
    }
    [[nodiscard]] bool are_untold() const { return untold_; }
    /// They are worth a look of their own: later ones come too late.
    [[nodiscard]] bool are_awaited(double now_s) const { return untold_ && now_s - begun_s_ < awaited_s; }
    /// Calls that are under way now without any are worth telling of: they have had the time to count theirs.
    [[nodiscard]] bool are_missed(double now_s) const {
        return are_awaited(now_s) && calls_untold_ && now_s - begun_s_ >= look_s;
    }

  private:
    static constexpr double awaited_s = 0.1;
    bool untold_ = false;
    bool calls_untold_ = false;
    double begun_s_ = 0;
};

}  // namespace halcyon::coordinate
