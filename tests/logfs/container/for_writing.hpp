#pragma once

#include "logfs/container/log_file.hpp"

namespace halcyon::logfs::tests {

inline opening for_writing() {
    opening how;
    how.may_write = true;
    how.creates = true;
    return how;
}

}  // namespace halcyon::logfs::tests
