#pragma once

#include <array>
#include <cstdint>

#include "base/shared_layout.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/versioned_pages.hpp"

namespace halcyon::offload {

/// What a user asked of a steerable parameter last, and who it was.
struct steering_request {
    uint64_t number = 0;  ///< counts the requests of the session; 0: there was none
    double value = 0;
    int64_t asked_ns = 0;  ///< real time
    int32_t process = 0;   ///< 0: in a PID namespace that the server does not see
    uint32_t user = 0;
};
static_assert(has_copied_layout<steering_request, 32, 8>());

/// Of each steerable parameter, in the order of model::steerable(), the last request.
struct steering_mail {
    uint64_t requests = 0;  ///< the number of the last one
    std::array<steering_request, most_steerable> latest{};
};
static_assert(has_copied_layout<steering_mail, 2056, 8>());

/// What the simulation computes with.
struct steering_values {
    int64_t since = 0;   ///< the first iteration with these values
    uint64_t taken = 0;  ///< requests up to this number have taken effect, or were replaced before they could
    std::array<double, most_steerable> values{};
};
static_assert(has_copied_layout<steering_values, 528, 8>());

/// How steering comes to the simulation, in the segment of the node of rank 0 (in those of other nodes, nobody uses
/// it). The server at work alone writes `mail`, and rank 0 reads it at the end of each iteration. Rank 0 alone writes
/// `values`, when a value has changed, and the server reads them for those who ask. Both are whole at any time, and
/// outlive whoever wrote them: a server that takes over goes on with the mail of the one before, of which rank 0 takes
/// what it has not taken yet, be there a server or not. Neither trusts the other: numbers and values are checked.
struct steering_box {
    alignas(64) versioned_pages<steering_mail> mail;
    alignas(64) versioned_pages<steering_values> values;
};
static_assert(has_shared_layout<steering_box, 5248, 64>());

}  // namespace halcyon::offload
