#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon {

/// Keeps a directory for one user at a time, among all processes that claim it, until it is destroyed. Leaves nothing
/// in the directory and ends with the process. Where the file system has no locks there is nothing that could be
/// claimed, and every claim succeeds.
class directory_claim {
  public:
    directory_claim() = default;
    /// Failure (usage): somebody else has it, in this process or another. System: it cannot be opened.
    static result<directory_claim> take(const std::string& directory);
    directory_claim(directory_claim&&) noexcept = default;
    directory_claim& operator=(directory_claim&&) noexcept = default;
    ~directory_claim();

  private:
    descriptor fd_;
};

}  // namespace halcyon
