#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::offload {

/// An unnamed file on node-local storage that takes blocks for which the segment has no room (policy spill). The
/// client appends; the server reads and punches holes where it is done. Gone with its last holder.
class spill_file {
  public:
    /// Appends and returns the offset. Opens the file in `directory` at first use. Failures (system): no such
    /// directory, disk full, or more than `most_bytes` written by this process in all.
    result<uint64_t> append(const std::string& directory, const void* data, uint64_t bytes, uint64_t most_bytes);

    /// Reads `bytes` back. Failure (system): the file does not hold them.
    result<void> read(uint64_t offset, void* data, uint64_t bytes) const;

    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }

  private:
    descriptor fd_;
    uint64_t end_ = 0;
};

}  // namespace halcyon::offload
