#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "base/node_identity.hpp"

namespace halcyon::coordinate {

/// The name by which a coordinator tells the agents of a job apart: that of the host, and a mark of what has one agent.
/// Containers with a network namespace of their own have one agent each, and often the host's name, and two hosts may
/// have the same one: with the same name, the agents would take each other's place at the coordinator without end. So
/// the mark is of as many bits as make two equal ones unlikely among all containers of a job.
inline std::string node_name(const std::string& host, const node_identity& of) {
    const std::string what = of.boot_id.data() + std::to_string(of.network_namespace);
    char mark[20];
    std::snprintf(mark, sizeof mark, "-%016zx", std::hash<std::string_view>()(what));
    return host + mark;
}

}  // namespace halcyon::coordinate
