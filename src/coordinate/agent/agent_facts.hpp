#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "coordinate/agent/file_writer.hpp"
#include "coordinate/page/agent_page.hpp"

namespace halcyon::coordinate {

/// What an agent writes into the folder of a run: its own file `<node>.<process id>.agent` (node_name.hpp), anew
/// whenever something that should not happen was counted, and the files of processes that died before they wrote theirs
/// (process_facts.hpp). Readers see whole files only. The agent waits for none of these but at its end. The first line
/// of the agent's file, `untold N`, counts the processes that may still change any of the files; the second one,
/// `pid_namespace N`, says in which one the process id is that of the agent; its last line is `end done` once the agent
/// has ended.
class agent_facts {
  public:
    /// "": there is no such folder, and nothing is written.
    agent_facts(const std::string& directory, std::string host);

    /// Whether to call tell() now: the number of untold processes has come to 0 or left it, or some time has passed.
    [[nodiscard]] bool is_due(size_t untold, int64_t now_ns) const;
    /// `text`: the lines between the first and the last. `faults`: those of them whose change is to be written.
    void tell(size_t untold, const std::string& text, const std::string& faults, bool is_end, int64_t now_ns);
    void tell_of_dead(const agent_page& from, const process_slot& slot);
    [[nodiscard]] uint64_t threads_missing() const { return writer_.threads_missing(); }
    /// Files of dead processes that were left out: the folder could not be written, and too many waited already.
    [[nodiscard]] uint64_t dropped() const { return dropped_; }

  private:
    std::string directory_, host_, path_;
    uint64_t pid_namespace_;
    std::string told_faults_;
    size_t told_untold_ = 0;
    uint64_t dropped_ = 0;
    int64_t told_ns_ = INT64_MIN / 2;
    file_writer writer_;
};

}  // namespace halcyon::coordinate
