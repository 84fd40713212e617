#include "logfs/backend/node_use.hpp"

namespace halcyon::logfs {

constinit thread_local node_use* node_use::innermost_ = nullptr;

void node_use::leave_all() {
    const calls::blocked_signals whole;
    while (innermost_ != nullptr) {
        node_use& left = *innermost_;
        log_node& of = left.of_;
        left.is_left_ = true;
        innermost_ = left.outer_;
        if (of.lock.is_of(left.self_)) {
            of.break_off();
            of.lock.unlock(left.self_);
        }
        if (left.ends_node_) state::nodes.end(of);
    }
}

}  // namespace halcyon::logfs
