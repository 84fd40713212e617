#pragma once

#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// The log of one node's servers: lines with a time, appended. Usable from several threads; a client that has to say
/// something of its server appends to it, too.
class server_log {
  public:
    /// `directory`: where relative paths start. `run`: whose mark the stores' directories have. Where the log cannot be
    /// opened, lines go to standard error, and the failure (system, usage: another run has its directory) says why.
    result<void> open(const model& data, const std::string& directory, const std::string& writer,
                      const std::string& run);
    /// What libraries print goes there too, from here on.
    void take_standard_output();
    /// Failure: the line is not in the log, or in one that is not where it is looked for.
    result<void> line(const std::string& text);
    /// The run is over: whoever deletes its directory from now on shall not find it again.
    void stop_following();

  private:
    result<void> open_file();
    [[nodiscard]] result<void> settle() const;

    bool follows_ = true, takes_output_ = false;
    std::string path_;
    std::string run_;    ///< "" where the log's directory is not one of the run's
    std::string where_;  ///< likewise: the log's directory in the configuration, followed by ": "
    descriptor fd_;
    std::mutex mutex_;
};

}  // namespace halcyon::offload
