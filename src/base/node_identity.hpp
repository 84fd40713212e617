#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/shared_layout.hpp"

namespace halcyon {

/// What two processes must share to use one segment and one abstract socket: the running kernel (boot id) and the
/// network namespace. MPI's shared-memory communicators do not tell (MPICH joins network namespaces).
struct node_identity {
    std::array<char, 40> boot_id{};
    uint64_t network_namespace = 0;

    static node_identity of_this_process();
    friend bool operator==(const node_identity&, const node_identity&) = default;
};
static_assert(has_copied_layout<node_identity, 48, 8>());

/// The PID namespace of this process, as a number that is the same in all processes of it; 0: not known.
uint64_t pid_namespace();
/// The time namespace, likewise: in two of them, CLOCK_MONOTONIC and CLOCK_BOOTTIME may be different clocks.
uint64_t time_namespace();

/// Name of the machine; asked of the system.
std::string host_name();

}  // namespace halcyon
