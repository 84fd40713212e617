#pragma once

#include <fuse_lowlevel.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace halcyon::logfs {

/// Makes the kernel forget the pages of files, by a thread of its own: the kernel waits for requests for these pages,
/// which the other threads have to answer meanwhile.
class page_dropper {
  public:
    explicit page_dropper(fuse_session* session);
    page_dropper(const page_dropper&) = delete;
    page_dropper& operator=(const page_dropper&) = delete;
    /// Waits for nothing: the kernel may have ended with the mount.
    ~page_dropper();

    void drop(fuse_ino_t number);

  private:
    struct queue {
        std::mutex lock;
        std::condition_variable has_changed;
        std::deque<fuse_ino_t> numbers;
        bool ends = false;
    };

    static void work(const std::shared_ptr<queue>& of, fuse_session* session);

    std::shared_ptr<queue> queue_ = std::make_shared<queue>();
};

}  // namespace halcyon::logfs
