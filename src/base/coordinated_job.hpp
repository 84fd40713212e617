#pragma once

#include <cstdint>

#include "base/shared_layout.hpp"

/// How libhalcyon asks libhalcyon-io, which may come from another release, under which name the I/O of the process is
/// coordinated: the servers that it starts take turns under the same name.
namespace halcyon::coordinated_job {

inline constexpr uint32_t version = 1;

/// As coordinate::job_identity; texts end with 0.
struct identity {
    char name[128];
    char secret[72];
    int64_t processes;
    int64_t nodes;
};

/// Of libhalcyon-io, by the name `halcyon_io_job`: null when it knows none of that version, or the layer `coordinate`
/// is not on.
using entry_point = const identity*(uint32_t wanted);

static_assert(has_copied_layout<identity, 216, 8>());

}  // namespace halcyon::coordinated_job
