#pragma once

#include <fuse_lowlevel.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "logfs/mount/mount_point.hpp"
#include "logfs/mount/state/failure_log.hpp"

namespace halcyon::logfs {

/// The thread that waits for the signals that end a mount; no other thread gets them. It is begun by the thread that
/// serves, before others are.
class ending {
  public:
    /// `open_files`: that programs have open in the mount.
    ending(fuse_session* session, known_mount mount, failure_log& log, const std::atomic<int64_t>& open_files);
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;
    ~ending();

  private:
    void wait();
    void leave_tree();

    fuse_session* const session_;
    const known_mount mount_;
    failure_log& log_;
    const std::atomic<int64_t>& open_files_;
    const pthread_t server_;
    sigset_t before_{};
    std::thread thread_;
};

}  // namespace halcyon::logfs
