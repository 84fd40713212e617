#pragma once

#include <atomic>
#include <cstdint>

#include "calls/state/blocked_signals.hpp"
#include "logfs/backend/backend_state.hpp"
#include "logfs/backend/log_node.hpp"
#include "logfs/backend/process_lock.hpp"

namespace halcyon::logfs {

/// This thread alone uses the node, with all signals blocked: for what takes system calls anyway.
class held_node {
  public:
    explicit held_node(log_node& of) : of_(of), self_(this_thread_number()) {
        if (!of_.lock.lock(self_)) of_.break_off();
    }
    ~held_node() { of_.lock.unlock(self_); }
    held_node(const held_node&) = delete;
    held_node& operator=(const held_node&) = delete;

  private:
    const calls::blocked_signals whole_;
    log_node& of_;
    const uint32_t self_;
};

/// This thread alone uses the node, and signals come: for reads and writes, where two system calls more are too many.
/// What their handlers do with the node they do with a twin of it (log_nodes::open_twin). A handler that jumps away,
/// and a thread that is cancelled, leave what they were in the middle of as it lies (log_node::break_off): the node
/// opens its container anew, as after a kill.
///
/// Of one thread; lies on its stack. Not for what locks files between processes: a twin would wait for its own thread.
class node_use {
  public:
    explicit node_use(log_node& of) : of_(of), self_(this_thread_number()), outer_(innermost_) {
        in_order();
        innermost_ = this;
        in_order();
        if (!of_.lock.lock(self_)) [[unlikely]]
            of_.break_off();
    }
    /// Behind a jump that stayed within a handler the node is no longer this one's.
    ~node_use() {
        if (is_left_) [[unlikely]]
            return;
        of_.lock.unlock(self_);
        in_order();
        innermost_ = outer_;
        in_order();
        if (ends_node_) [[unlikely]]
            state::nodes.end(of_);
    }
    node_use(const node_use&) = delete;
    node_use& operator=(const node_use&) = delete;

    /// Of the node by the calling thread, which a handler interrupted, and that handler asks; null: there is none.
    [[nodiscard]] static node_use* interrupted(const log_node& of) {
        node_use* at = innermost_;
        while (at != nullptr && &at->of_ != &of) at = at->outer_;
        return at;
    }
    /// Nobody has the node open any more: it ends with this use.
    void end_behind_it() { ends_node_ = true; }
    /// A jump leaves all that the calling thread is in the middle of.
    static void leave_all();

  private:
    /// A handler of this thread sees what was stored before, and not what is stored behind it.
    static void in_order() { std::atomic_signal_fence(std::memory_order_seq_cst); }

    /// What this thread uses with signals coming; null: nothing.
    static constinit thread_local node_use* innermost_ __attribute__((tls_model("initial-exec")));

    log_node& of_;
    const uint32_t self_;
    node_use* outer_;
    bool is_left_ = false;
    bool ends_node_ = false;
};

/// What `work` returns of the node, locked; or -errno. The caller is one of its users.
template <class Work>
int64_t with_held(log_node& node, Work work) {
    if (node_use::interrupted(node) != nullptr) [[unlikely]]
        return state::nodes.with_twin(node, work);
    const held_node alone(node);
    return work(node);
}

/// Likewise, and it can be read and written.
template <class Work>
int64_t with_ready(log_node& node, Work work) {
    return with_held(node, [&](log_node& of) -> int64_t {
        const int failed = of.ready();
        return failed != 0 ? failed : work(of);
    });
}

/// Likewise, of the node that `opened` has open. -EBADF: another thread or a handler closed that meanwhile, and the
/// node may be another container's (log_nodes::give_back). `ready`: or log_node::ready_behind.
template <class Work>
int64_t with_open_node(log_node& node, calls::file_backend::handle opened, Work work,
                       int (log_node::*ready)() = &log_node::ready) {
    return with_held(node, [&](log_node& of) -> int64_t {
        if (!state::handles.is_open(opened)) return -EBADF;
        const int failed = (of.*ready)();
        return failed != 0 ? failed : work(of);
    });
}

/// Likewise, without system calls of its own.
template <class Work>
int64_t with_open_node_at_once(log_node& node, calls::file_backend::handle opened, Work work) {
    if (node_use::interrupted(node) != nullptr) [[unlikely]]
        return state::nodes.with_twin(node, work);
    const node_use alone(node);
    if (!state::handles.is_open(opened)) return -EBADF;
    if (const int failed = node.ready(); failed != 0) return failed;
    return work(node);
}

}  // namespace halcyon::logfs
