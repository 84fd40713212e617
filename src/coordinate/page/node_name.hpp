#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/fnv.hpp"
#include "base/node_identity.hpp"

namespace halcyon::coordinate {

/// Tells apart what has one agent each: hosts, and network namespaces of one. Safe within applications.
inline uint64_t node_mark(const node_identity& of) {
    fnv1a hash;
    for (const char c : of.boot_id) hash.add(static_cast<unsigned char>(c));
    for (unsigned shift = 0; shift < 64; shift += 8)
        hash.add(static_cast<unsigned char>((of.network_namespace >> shift) & 0xffU));
    return hash.value();
}

/// The name by which a coordinator, and who reads the files of a run, tell the agents of a job apart: that of the host,
/// and a mark of what has one agent. Containers with a network namespace of their own have one agent each, and often
/// the host's name, and two hosts may have the same one: with the same name, the agents would take each other's place
/// at the coordinator without end. So the mark is of as many bits as make two equal ones unlikely among all containers
/// of a job.
inline std::string node_name(const std::string& host, const node_identity& of) {
    char mark[20];
    std::snprintf(mark, sizeof mark, "-%016llx", static_cast<unsigned long long>(node_mark(of)));
    return host + mark;
}

}  // namespace halcyon::coordinate
