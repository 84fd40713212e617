#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "base/turn.hpp"
#include "logfs/background/pace.hpp"

namespace halcyon::python {

/// As fast as `bytes_per_s` says (0: as it goes), and in the turn of the job of this process' environment.
class log_pace {
  public:
    log_pace(double bytes_per_s, bool takes_turns);

    [[nodiscard]] logfs::pace& of() { return pace_; }
    [[nodiscard]] std::vector<std::string> take_remarks() { return turns_->take_remarks(); }

  private:
    std::unique_ptr<turn> turns_;
    logfs::pace pace_;
};

/// Of halcyon._logfs: how fast, and in whose turn, containers are worked on.
void add_log_pace(nanobind::module_& m);

}  // namespace halcyon::python
