#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// What an agent writes into the folder of a run: its own file `<host>.<process id>.agent`, anew whenever its text has
/// changed, and the files of processes that died before they wrote theirs (process_facts.hpp). Readers see whole files
/// only. The first line of the agent's file, `untold N`, counts the processes that may still change any of the files;
/// its last line is `end done` once the agent has ended.
class agent_facts {
  public:
    /// "": there is no such folder, and nothing is written.
    agent_facts(const std::string& directory, std::string host);

    /// Whether to call tell() now: the number of untold processes has come to 0 or left it, or some time has passed.
    [[nodiscard]] bool is_due(size_t untold, int64_t now_ns) const;
    /// `text`: the lines between the first and the last.
    void tell(size_t untold, const std::string& text, bool is_end, int64_t now_ns);
    void tell_of_dead(const page& shared, const process_slot& slot) const;

  private:
    std::string directory_, host_, path_;
    std::string told_;
    size_t told_untold_ = 0;
    int64_t told_ns_ = INT64_MIN / 2;
};

}  // namespace halcyon::coordinate
