#include "calls/memory_backend/job_processes.hpp"

#include "calls/memory_backend/byte_locks.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::in_memory {

void job_processes::start(space& of, int memory) {
    space_ = &of;
    memory_ = memory;
    after_fork();
}

void job_processes::after_fork() {
    process_ = direct::process_id();
    slot_ = find_or_take(process_);
}

int job_processes::slot() {
    const int process = direct::process_id();
    return process == process_ ? slot_ : find_or_take(process);
}

bool job_processes::is_own() const {
    return direct::process_id() == process_;
}

// The kernel does not tell a process of its own locks.
bool job_processes::is_alive(int slot, int own) const {
    if (slot == own || slot < 0 || slot >= static_cast<int>(most_processes)) return true;
    struct flock range = byte_locks::of_process(slot, F_WRLCK);
    return byte_locks::call(memory_, F_GETLK, range) != 0 || range.l_type != F_UNLCK;
}

bool job_processes::take(int slot) const {
    struct flock range = byte_locks::of_process(slot, F_WRLCK);
    return byte_locks::call(memory_, F_SETLK, range) == 0;
}

int job_processes::find_or_take(int process) {
    constexpr int count = most_processes;
    auto& numbers = space_->process_ids;
    for (int slot = 0; slot < count; ++slot)
        if (numbers[slot].load(std::memory_order_acquire) == process && take(slot)) return slot;
    // The lock first: who sees the number then finds its process alive.
    for (const bool left_by_others : {false, true}) {
        for (int slot = 0; slot < count; ++slot) {
            if (!left_by_others && numbers[slot].load(std::memory_order_relaxed) != 0) continue;
            if (!take(slot)) continue;
            numbers[slot].store(process, std::memory_order_release);
            return slot;
        }
    }
    return none;
}

}  // namespace halcyon::calls::in_memory
