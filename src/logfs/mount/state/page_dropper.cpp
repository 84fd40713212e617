#include "logfs/mount/state/page_dropper.hpp"

#include <thread>

namespace halcyon::logfs {

page_dropper::page_dropper(fuse_session* session) {
    std::thread(work, queue_, session).detach();
}

page_dropper::~page_dropper() {
    const std::lock_guard alone(queue_->lock);
    queue_->ends = true;
    queue_->has_changed.notify_one();
}

void page_dropper::drop(fuse_ino_t number) {
    const std::lock_guard alone(queue_->lock);
    queue_->numbers.push_back(number);
    queue_->has_changed.notify_one();
}

void page_dropper::work(const std::shared_ptr<queue>& of, fuse_session* session) {
    for (std::unique_lock alone(of->lock);;) {
        of->has_changed.wait(alone, [&] { return of->ends || !of->numbers.empty(); });
        if (of->ends) return;
        const fuse_ino_t number = of->numbers.front();
        of->numbers.pop_front();
        alone.unlock();
        // From the beginning to the end. The kernel may not know it any more.
        ::fuse_lowlevel_notify_inval_inode(session, number, 0, 0);
        alone.lock();
    }
}

}  // namespace halcyon::logfs
