#pragma once

#include <cstddef>
#include <cstdint>

#include "coordinate/page/job_identity.hpp"
#include "coordinate/page/page.hpp"

/// How a process comes to the page of its job, within the application: by direct system calls, without memory of the
/// application's, and without children that it could notice.
namespace halcyon::coordinate::page_access {

struct settings {
    job_identity job{};
    const char* agent = "";   ///< path of halcyon-agent
    const char* mounts = "";  ///< HALCYON_COORDINATORS
    const char* facts = "";   ///< HALCYON_TRACE_DIR
    int64_t patience_ms = 1000;
    // For the agent; "": as the environment says.
    const char* munge_sockets = "";  ///< HALCYON_MUNGE_SOCKETS
    const char* account = "";        ///< HALCYON_ACCOUNT
    const char* patience = "";       ///< HALCYON_COORDINATE_PATIENCE_MS
    const char* starvation = "";     ///< HALCYON_COORDINATE_STARVATION_MS
    const char* pause = "";          ///< HALCYON_COORDINATE_PAUSE_MS
    const char* behind = "";         ///< HALCYON_COORDINATE_BEHIND_MS
};

/// The page; null, and `complaint` says why. Where no agent of the job runs on this node, one is started; of processes
/// that come together one does so. Takes no longer than its patience; and no time where the job's agent could not be
/// started a short while ago (failed_start.hpp).
page* open(const settings& wanted, char* complaint, size_t complaint_bytes);

/// Of a page that open() has given; null: nothing is done. Nobody may use it any more.
void close(page* opened);

}  // namespace halcyon::coordinate::page_access
