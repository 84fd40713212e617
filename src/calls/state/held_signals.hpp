#pragma once

#include <cstdint>

namespace halcyon::calls {

/// While it lives, no write of ours ends the process: the kernel answers one to a pipe that nobody reads by SIGPIPE,
/// and one beyond the limit of file sizes by SIGXFSZ, to the thread that writes. Both are held back, and taken away
/// where they were not there before; the call returns its error.
class held_signals {
  public:
    held_signals();
    ~held_signals();
    held_signals(const held_signals&) = delete;
    held_signals& operator=(const held_signals&) = delete;

  private:
    uint64_t mask_before_ = 0;
    uint64_t pending_before_ = 0;
};

}  // namespace halcyon::calls
