#pragma once

#include <cstddef>
#include <cstdint>

#include "calls/backends/file_backend.hpp"

namespace halcyon::logfs {

/// Entries of a directory of the kernel's, in which containers are files, and what is hidden is not there. "." and ".."
/// come first; behind them the kernel's own places, moved on by two.
class directory_listing {
  public:
    /// 1, 0 at the end, or -errno.
    int next(int directory, uint64_t& after, calls::file_backend::entry& out);

    static constexpr size_t buffer_bytes = 32768;

  private:
    static constexpr uint64_t dots = 2;
    static constexpr uint64_t nowhere = UINT64_MAX;

    int fill(int directory, uint64_t after);

    uint64_t place_ = nowhere;  // of what lies at `at_`
    size_t at_ = 0;
    size_t used_ = 0;
    alignas(8) char buffer_[buffer_bytes];
};

}  // namespace halcyon::logfs
