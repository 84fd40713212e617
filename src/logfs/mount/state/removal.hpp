#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "logfs/mount/state/node_table.hpp"

namespace halcyon::logfs {

/// A container that has lost its name: a directory that programs do not see.
struct discarded {
    place folder;
    std::string name;
};

/// Removes all of it.
result<void> remove(const discarded& what);

/// How one mount removes containers. A container that programs still have open loses its name at once and the rest when
/// they close it. Until then it lies in the backend's root: a folder whose files are all unlinked can be removed. What
/// a process that was killed left there goes when a mount begins on the same host.
class removal {
  public:
    /// `root`: the backend's.
    removal(place root, std::string host) : root_(std::move(root)), host_(std::move(host)) {}

    /// Takes the container's name; 0 or a positive errno.
    int discard(const place& folder, const char* name, discarded& out);
    /// What processes of this host left that have ended.
    void sweep();

  private:
    [[nodiscard]] std::string next_name();

    place root_;
    std::string host_;
    std::atomic<uint64_t> count_{0};
};

}  // namespace halcyon::logfs
