#pragma once

#include "base/error.hpp"
#include "halcyon/logfs.h"
#include "logfs/container/log_file.hpp"

namespace halcyon::logfs::api {

/// Fills in what the caller has set the size of. Failure: usage, it has not; as log_file::status().
result<void> give_status(const char* call, log_file& of, halcyon_logfs_status_t& to);

}  // namespace halcyon::logfs::api
