#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// System calls that no interposed function sees; descriptors are hidden ones (calls/backends/hidden_descriptors.hpp).
/// In a process whose layers want to see them (report_below) they are shown; whoever has asked for these calls keeps
/// what was decided when it asked. Never destroyed: streams are written when all destructors have run.
file_calls& direct_files();

}  // namespace halcyon::logfs
