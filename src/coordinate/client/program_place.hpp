#pragma once

#include <string>

#include "coordinate/client/coordination.hpp"
#include "coordinate/page/job_identity.hpp"
#include "coordinate/page/page.hpp"

/// How a program that takes turns by itself comes to the page of its job. May throw bad_alloc only.
namespace halcyon::coordinate {

/// The place of this process in the page of its job on this node.
struct program_place {
    page* shared = nullptr;
    process_slot* slot = nullptr;
    std::string why;  ///< where there is none
};

/// Takes it, and before that starts the job's agent, where there is none: HALCYON_AGENT, or the one that is installed
/// with the library that holds `within`. Takes as long as the patience that HALCYON_COORDINATE_PATIENCE_MS sets (1 s)
/// at most (patience.hpp).
program_place take_place(const job_identity& job, const coordination& by, const void* within);

/// Likewise, of a program that takes its turns by itself: under the name of its job, or as a job of its own. Once it
/// has one, a process keeps it, and does not ask again. Not for two threads at once.
program_place take_place_of_program(const coordination& by, const void* within);

}  // namespace halcyon::coordinate
