#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon {

/// Keeps a directory for one user at a time, among all processes that claim it, until it is destroyed. The user may
/// share it: then others join, and a new user has to wait until all of them are gone. Leaves nothing in the directory
/// and ends with the process. Where the file system has no locks there is nothing that could be claimed, and every
/// claim succeeds.
class directory_claim {
  public:
    directory_claim() = default;
    /// For one user alone. Failure (usage): somebody else has it, in this process or another. System: it cannot be
    /// opened.
    static result<directory_claim> take(const std::string& directory);
    /// Beside others who share it. Failures as for take(): somebody has it alone.
    static result<directory_claim> join(const std::string& directory);
    directory_claim(directory_claim&&) noexcept = default;
    directory_claim& operator=(directory_claim&& other) noexcept;
    ~directory_claim();

    /// From now on others may join. Failure (usage): a new user was quicker.
    result<void> share();
    /// Gives it up.
    void release();
    /// False: this path leads elsewhere than when the directory was claimed, or to nothing.
    [[nodiscard]] bool is_at(const std::string& directory) const;
    explicit operator bool() const { return static_cast<bool>(fd_); }

  private:
    static result<directory_claim> lock(const std::string& directory, int how);

    descriptor fd_;
};

}  // namespace halcyon
