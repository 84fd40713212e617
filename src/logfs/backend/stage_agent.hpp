#pragma once

/// The agent of this node that brings what lies on its disk into the containers (background/agent.hpp), and outlives
/// the job.
namespace halcyon::logfs::stage_agent {

/// Texts that stay: of the environment as the process began with it.
struct settings {
    const char* program = "";  ///< halcyon-log-agent; "": none is started
    const char* words = "";    ///< of its command line, apart by blanks
    const char* stage = "";    ///< the directory on the node's disk, absolute
    const char* roots = "";    ///< directories of containers, apart by colons
};
void configure(const settings& how);

/// This process has put something on the node's disk: from now on, and until it and its children have ended, there is
/// an agent. The first call may take as long as a program takes to start.
void ensure();

}  // namespace halcyon::logfs::stage_agent
