#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::logfs {

/// Where a mount says why: programs get a number only. One line each; the same one again within 10 s is counted, not
/// repeated. Threads may share it.
class failure_log {
  public:
    /// The system's log from now on, until then standard error.
    void use_system_log();
    void use_file(descriptor file);

    void say(std::string_view line);

  private:
    enum class target : uint8_t { standard_error, file, system };

    void write(std::string_view line);

    std::mutex lock_;
    target to_ = target::standard_error;
    descriptor file_;
    std::string last_;
    int64_t last_ns_ = 0;
    uint64_t repeated_ = 0;
};

/// What the system call of a program returns for it: a positive errno. Damage is EIO.
int number_of(const failure& why);

}  // namespace halcyon::logfs
