#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/daemon/daemon_counts.hpp"

namespace halcyon::coordinate {

/// Says for the log how often something was refused, dropped, lost or timed out since it said so last: a line for all
/// of it, every 10 s at most, whatever clients do.
class fault_report {
  public:
    /// Empty: nothing new, or it is too early.
    std::string news(const counts& of_machine, const daemon_counts& of_daemon, int64_t now_ns);
    /// Another state machine counts from 0.
    void begin_epoch() { of_machine_.clear(); }

  private:
    std::map<std::string, double> of_machine_, of_daemon_;  ///< counts that were told
    int64_t next_ns_ = 0;
};

}  // namespace halcyon::coordinate
