#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "calls/backends/file_backend.hpp"
#include "logfs/backend/directory_listing.hpp"
#include "logfs/backend/log_nodes.hpp"

namespace halcyon::logfs {

/// A file that open() opened: a container, or a directory of the kernel's.
struct open_handle {
    std::atomic<bool> is_taken;
    int flags;                   ///< of open(2)
    int directory;               ///< hidden; -1: a container
    log_node* node;              ///< null: a directory
    directory_listing* listing;  ///< once it was asked for
    process_lock listing_lock;
};

/// All of this process. Its handles stay what they are in a forked child.
class open_handles {
  public:
    constexpr open_handles() = default;

    /// 0: there are too many.
    calls::file_backend::handle add(log_node* node, int directory, int flags);
    [[nodiscard]] open_handle& of(calls::file_backend::handle handle) { return all_[handle - 1]; }
    void drop(calls::file_backend::handle handle);

    /// In a forked child, whose directories have positions in common with its parent's.
    void after_fork();

  private:
    static constexpr uint32_t most = 16384;

    std::atomic<uint32_t> next_{0};
    open_handle all_[most] = {};
};

}  // namespace halcyon::logfs
