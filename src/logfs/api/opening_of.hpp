#pragma once

#include "base/error.hpp"
#include "halcyon/logfs.h"
#include "logfs/container/log_file.hpp"

namespace halcyon::logfs {

/// What logfs.h says of an opening, as the container takes it. Texts are the caller's.
struct asked_opening {
    opening how;
    writer_identity who;
};

/// `options` may be null. Failure: usage.
result<asked_opening> opening_of(unsigned mode, const halcyon_logfs_options* options);

}  // namespace halcyon::logfs
