#pragma once

#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// The log of one node's servers: lines with a time, appended. Usable from several threads; a client that has to say
/// something of its server appends to it, too.
class server_log {
  public:
    /// `directory`: where relative paths start. `run`: whose mark the stores' directories have. Where the log cannot be
    /// opened, lines go to standard error.
    void open(const model& data, const std::string& directory, const std::string& writer, const std::string& run);
    /// What libraries print goes there too, from here on.
    void take_standard_output();
    void line(const std::string& text);
    /// The run is over: whoever deletes its directory from now on shall not find it again.
    void stop_following();

  private:
    void open_file();

    bool follows_ = true, takes_output_ = false;
    std::string path_;
    std::string run_;  ///< "" where the log's directory is not one of the run's
    descriptor fd_;
    std::mutex mutex_;
};

}  // namespace halcyon::offload
