#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/token_bucket.hpp"

namespace halcyon::coordinate {

/// Lines on a descriptor (standard error) that never delay the daemon and never end it: a line that cannot be written
/// now, on a full disk or into a pipe that nobody reads, is dropped and counted, and so are lines beyond 20 a second.
/// The next line that gets through says how many are missing.
class log {
  public:
    /// `name`: of the coordinator, in front of each line.
    log(int fd, std::string name, uint64_t& dropped);

    void line(std::string_view text);

  private:
    bool write(std::string_view text);

    int fd_;
    std::string name_;
    uint64_t& dropped_;
    uint64_t dropped_told_ = 0;
    token_bucket allowed_;
};

}  // namespace halcyon::coordinate
