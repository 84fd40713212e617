#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/daemon/daemon_counts.hpp"

namespace halcyon::coordinate {

/// Says for the log how often something was refused, dropped, lost or timed out since it said so last: a line for all
/// of it, every 10 s at most, whatever clients do.
class fault_report {
  public:
    /// Empty: nothing new, or it is too early: it looks four times a second.
    std::string news(const counts& of_machine, const daemon_counts& of_daemon, int64_t now_ns);
    /// Another state machine counts from 0.
    void begin_epoch() { of_machine_.clear(); }

  private:
    template <class Counts>
    static void look(std::vector<double>& told, const Counts& now, std::string& text);

    std::vector<double> of_machine_, of_daemon_;  ///< counts that were told, in the order of each_count()
    int64_t next_ns_ = 0;
};

}  // namespace halcyon::coordinate
