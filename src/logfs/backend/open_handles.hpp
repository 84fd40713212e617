#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "calls/backends/file_backend.hpp"
#include "logfs/backend/directory_listing.hpp"
#include "logfs/backend/log_nodes.hpp"

namespace halcyon::logfs {

/// A file that open() opened: a container, or a directory of the kernel's. What it says may be another file's, or
/// nobody's, by the time that it is used, where another thread or a handler closes it meanwhile: is_open() tells.
struct open_handle {
    std::atomic<bool> is_taken;
    std::atomic<uint32_t> generation;  ///< how many files had this place and were closed
    std::atomic<int> flags;            ///< of open(2)
    std::atomic<int> directory;        ///< hidden; -1: a container
    std::atomic<log_node*> node;       ///< null: a directory
    directory_listing* listing;        ///< once it was asked for; with the lock
    process_lock listing_lock;
};

/// All of this process. Its handles stay what they are in a forked child.
class open_handles {
  public:
    constexpr open_handles() = default;

    /// 0: there are too many.
    calls::file_backend::handle add(log_node* node, int directory, int flags);
    [[nodiscard]] open_handle& of(calls::file_backend::handle handle) {
        return all_[static_cast<uint32_t>(handle) - 1];
    }
    /// Nobody has closed it yet. To be asked with a lock that its end takes: that of its node or of its listing.
    [[nodiscard]] bool is_open(calls::file_backend::handle handle) {
        return of(handle).generation.load(std::memory_order_acquire) == handle >> 32;
    }
    void drop(calls::file_backend::handle handle);

    /// In a forked child, whose directories have positions in common with its parent's.
    void after_fork();

  private:
    static constexpr uint32_t most = 16384;

    std::atomic<uint32_t> next_{0};
    open_handle all_[most] = {};
};

}  // namespace halcyon::logfs
