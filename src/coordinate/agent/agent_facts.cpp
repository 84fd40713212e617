#include "coordinate/agent/agent_facts.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "coordinate/page/node_name.hpp"
#include "coordinate/page/process_facts.hpp"

namespace halcyon::coordinate {

agent_facts::agent_facts(const std::string& directory, std::string host)
    : directory_(directory), host_(std::move(host)), pid_namespace_(pid_namespace()) {
    if (directory.empty()) return;
    const std::string node = node_name(host_, node_identity::of_this_process());
    path_ = directory + "/" + node + "." + std::to_string(::getpid()) + ".agent";
}

bool agent_facts::is_due(size_t untold, int64_t now_ns) const {
    constexpr int64_t between_looks_ns = 250'000'000;
    return (untold == 0) != (told_untold_ == 0) || now_ns - told_ns_ >= between_looks_ns;
}

/// The agent has nobody to complain to: a file that cannot be written is tried again, and whoever reads the folder sees
/// that the last line is missing.
void agent_facts::tell(size_t untold, const std::string& text, const std::string& faults, bool is_end, int64_t now_ns) {
    const bool counts = is_end || faults != told_faults_ || (untold == 0) != (told_untold_ == 0);
    told_ns_ = now_ns;
    told_untold_ = untold;
    if (path_.empty()) return;
    if (!counts) return writer_.try_again();
    told_faults_ = faults;
    writer_.write(path_, "untold " + std::to_string(untold) + "\npid_namespace " + std::to_string(pid_namespace_) +
                             "\n" + text + (is_end ? "end done\n" : ""));
}

void agent_facts::tell_of_dead(const agent_page& from, const process_slot& slot) {
    std::array<char, 4096> path{};
    std::array<char, process_facts::longest_text> text{};
    if (directory_.empty() ||
        !process_facts::name_file(path.data(), path.size(), directory_, host_.c_str(), slot.owner.load()))
        return;
    const char* const how = slot.told.load() == process_slot::its_agent ? "by_agent" : "died";
    const size_t bytes =
        process_facts::describe(text.data(), text.size(), from.shared(), from.file_systems(), slot, how);
    if (bytes > 0 && !writer_.write_if_room(path.data(), std::string(text.data(), bytes))) ++dropped_;
}

}  // namespace halcyon::coordinate
