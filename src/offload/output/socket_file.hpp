#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon::offload {

/// socket-<writer>.json in the run's directory: where users find a server, for as long as it lives
/// (docs/run-directory.md). It holds no secret: a server talks to processes of its own user alone.
class socket_file {
  public:
    socket_file() = default;
    socket_file(const socket_file&) = delete;
    socket_file& operator=(const socket_file&) = delete;
    /// Removes the file, unless it is another server's by now.
    ~socket_file();

    /// `run`: as for run_records::open(). `socket`: the abstract name.
    result<void> publish(const std::string& directory, const std::string& writer, const std::string& run,
                         const std::string& socket);

  private:
    std::string path_, text_;
};

}  // namespace halcyon::offload
