#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "coordinate/agent/turn_agent.hpp"
#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/job_identity.hpp"

namespace halcyon::coordinate {

/// A mount and who coordinates it: "/scratch=unix:/run/halcyon/scratch.socket", as in HALCYON_COORDINATORS, where each
/// is a line, split at the first `=unix:` or `=tcp:`. Several addresses are separated by commas. Behind them, after a
/// tab each, words say whom to believe: `munge` and `user:990`.
struct coordinated_mount {
    std::string path;
    std::string addresses;
    std::string munge_socket = {};   ///< of munged, for TCP; empty: its default
    bool needs_munge = false;        ///< a TCP coordinator that believes claims is refused
    std::optional<uid_t> user = {};  ///< of the daemon, for Unix addresses
};
/// `munge_sockets`: of those mounts that have one, "/scratch=/run/munge/other.socket", as in HALCYON_MUNGE_SOCKETS.
/// Failure (config): a line without an address, with a path that is not absolute, or with another word.
result<std::vector<coordinated_mount>> parse_mounts(const std::string& lines, const std::string& munge_sockets = {});

struct agent_loop_settings {
    job_identity job{};
    std::string node;  ///< the host's name; the coordinator gets one of more parts (page/node_name.hpp)
    std::string account;
    std::vector<coordinated_mount> mounts;
    agent_page::settings page;
    double behind_s = turn_agent::settings().behind_s;
    bool asks_for_starvation = true;  ///< page.starvation_s is only until a coordinator has said its limit
    std::string facts_directory;      ///< where its counts go at its end; "": nowhere
    double first_process_s = 10;      ///< it ends when no process came for so long
    double linger_s = 1;              ///< and when the last one has been gone for so long
};

/// Runs the agent of a job on this node, on the calling thread, until the job's processes are gone. Hands the page to
/// each process of the same user that connects to the job's abstract socket. `ready` is called when this agent listens
/// or another one does, which is as good, and then with success; or with the failure for which it cannot.
result<void> run_agent(const agent_loop_settings& with, const std::function<void(const result<void>&)>& ready);

}  // namespace halcyon::coordinate
