#include "logfs/backend/node_use.hpp"

#include <atomic>

namespace halcyon::logfs {
namespace {

/// What this thread uses with signals coming; null: nothing.
constinit thread_local node_use* innermost __attribute__((tls_model("initial-exec"))) = nullptr;

/// A handler of this thread sees what was stored before, and not what is stored behind it.
void in_order() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

node_use::node_use(log_node& of) : of_(of), self_(this_thread_number()), outer_(innermost) {
    in_order();
    innermost = this;
    in_order();
    if (!of_.lock.lock(self_)) of_.break_off();
}

/// Behind a jump that stayed within a handler the node is no longer this one's.
node_use::~node_use() {
    if (is_left_) return;
    of_.lock.unlock(self_);
    in_order();
    innermost = outer_;
    in_order();
    if (ends_node_) [[unlikely]]
        state::nodes.end(of_);
}

node_use* node_use::interrupted(const log_node& of) {
    node_use* at = innermost;
    while (at != nullptr && &at->of_ != &of) at = at->outer_;
    return at;
}

void node_use::leave_all() {
    const calls::blocked_signals whole;
    while (innermost != nullptr) {
        node_use& left = *innermost;
        log_node& of = left.of_;
        left.is_left_ = true;
        innermost = left.outer_;
        if (of.lock.is_of(left.self_)) {
            of.break_off();
            of.lock.unlock(left.self_);
        }
        if (left.ends_node_) state::nodes.end(of);
    }
}

}  // namespace halcyon::logfs
