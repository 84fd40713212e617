#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// System calls that no interposed function sees; descriptors are hidden ones (calls/backends/hidden_descriptors.hpp).
/// Never destroyed: streams are written when all destructors have run.
file_calls& direct_files();

}  // namespace halcyon::logfs
