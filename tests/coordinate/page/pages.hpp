#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/process_life.hpp"

/// Pages of tests, and processes that take part in them.
namespace halcyon::coordinate {

inline agent_page page_of(std::vector<std::string> mounts = {"/scratch"}) {
    auto made = agent_page::create({.mounts = std::move(mounts)});
    return std::move(made).value();
}

inline uint64_t own_name() {
    return process_slot::owner_of(::getpid(), start_of_process(::getpid()));
}

/// Runs `work` in a child; returns how it ended.
template <class Work>
int in_child(Work work) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
}

}  // namespace halcyon::coordinate
