#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "calls/backends/file_backend.hpp"
#include "calls/state/blocked_signals.hpp"
#include "logfs/backend/log_node.hpp"
#include "logfs/backend/whole_path.hpp"

namespace halcyon::logfs {

/// The containers that this process has open, each once. In a child of vfork, which lives in its parent's memory and
/// has descriptors of its own, each is opened for itself, and nobody else knows it.
class log_nodes {
  public:
    constexpr log_nodes() = default;

    void start(const node_settings& how) { how_ = &how; }

    /// A node, and whether it shows what others had published by now: where the process did not have it.
    struct taken {
        log_node* node = nullptr;
        bool is_up_to_date = false;
    };
    /// The container that the directory `fd` stands for, which has this path. 0, or -errno; -ESTALE: it has it no more.
    int take(int fd, const char* path, taken& out);
    /// A new container. -EEXIST: something has the name.
    int create(const char* path, mode_t mode, log_node*& out);
    /// One more user of what `opened` has open. False: somebody closed that meanwhile.
    bool share(log_node& node, calls::file_backend::handle opened);
    /// One less; the last one leaves it, or, where its thread is in the middle of a use, leaves that to its end.
    void release(log_node& node);
    /// Nobody has the node any more: it rests (log_node::rest), or is closed.
    void end(log_node& node);

    /// For a handler, what `work` returns of another node for the same container, ready: the thread that it interrupted
    /// is in the middle of something with this one, which sees from then on what was written. Or -errno.
    template <class Work>
    int64_t with_twin(log_node& of, Work work) {
        const calls::blocked_signals whole;
        log_node* twin = nullptr;
        if (const int failed = open_twin(of, twin); failed != 0) return failed;
        const int64_t done = work(*twin);
        close_twin(of, *twin);
        return done;
    }

    /// What a child writes counts after all that this process has written by now, but for nodes that another thread
    /// uses for long.
    void before_fork();
    /// Until this thread goes on, all others leave the lists as they are: a forked child gets them whole.
    void keep_still();
    void go_on();
    /// In a forked child: whatever its parent has open is opened anew when it is used.
    void after_fork();
    /// Writers say that they have ended.
    void before_exec();
    /// Likewise, but for those that another thread uses for long. A container that has no name any more goes with the
    /// last process that has it open.
    void before_end();

  private:
    static constexpr size_t chain_count = 256;
    /// Each has a few descriptors.
    static constexpr size_t most_resting = 8;

    template <class Work>
    void with_free_nodes(Work work);

    log_node* make();
    void give_back(log_node* node);
    [[nodiscard]] log_node*& chain_of(uint64_t device, uint64_t inode);
    [[nodiscard]] log_node* find(uint64_t device, uint64_t inode);
    void add(log_node& node);
    void remove(log_node& node);
    log_node* share_known(uint64_t device, uint64_t inode);
    log_node* add_or_share(log_node& fresh);
    int wait_for(log_node& known, taken& out);
    int open_twin(const log_node& of, log_node*& out);
    void close_twin(log_node& of, log_node& twin);
    void forget(log_node& node);
    void keep(log_node& node);
    log_node* wake(uint64_t device, uint64_t inode, int fd);
    log_node* take_resting(size_t place);
    [[nodiscard]] size_t place_of_resting(uint64_t device, uint64_t inode) const;
    void drop(log_node& node);
    void drop_resting();

    const node_settings* how_ = nullptr;
    process_lock lock_;
    log_node* chains_[chain_count] = {};
    log_node* unused_ = nullptr;
    log_node* resting_[most_resting] = {};  // the one that rests for the longest time first
    size_t resting_count_ = 0;
};

/// Removes the container at this path, which has no name that applications know, unless a process has it open.
void remove_unused(const char* path);

}  // namespace halcyon::logfs
