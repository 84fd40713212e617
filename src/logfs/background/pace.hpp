#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/token_bucket.hpp"
#include "base/turn.hpp"

namespace halcyon::logfs {

/// For how long who works in the background rests behind a round of looks that took so long, and of which nothing came:
/// twice a second it looks where rounds are short, and where they are long they take a thirtieth of the time.
int64_t rest_behind(int64_t round_ns);

/// How fast work in the background moves data, and in whose turn: it is never in a hurry. One thread.
class pace {
  public:
    /// `bytes_per_s`: 0, as fast as it goes. `turns` outlives this.
    pace(turn& turns, double bytes_per_s);

    /// So many bytes are about to be written into a directory; waits for the turn. Nothing is held then for which
    /// anybody could wait.
    void begin(const std::string& directory, int64_t bytes);
    /// A piece of so many bytes follows: waits until it may.
    void next(int64_t bytes);
    /// All is written, or given up.
    void end() { stay_.reset(); }

  private:
    turn& turns_;
    rate_limit limit_;
    token_bucket bucket_;
    std::unique_ptr<turn::stay> stay_;
};

}  // namespace halcyon::logfs
