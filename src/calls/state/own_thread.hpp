#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HALCYON_THREAD_BY_LIBRARY  // sanitizers have to know every thread
#endif

namespace halcyon::calls {

/// A thread of ours within the application that ends when its work is done, and of which the application's libraries
/// know nothing: pthread_create would allocate, make a program of one thread one of many (exit of the last thread,
/// unshare, the locks of stdio), and its thread would be counted among the application's own.
///
/// What it runs shall use no thread-local variable, errno included: none of the application's libraries has set them up
/// here. Where it does so all the same, it finds zeros that are the thread's own (thread_local_memory), not its stack.
/// All signals are blocked in it.
class own_thread {
  public:
    /// Runs `work(argument)` in it. `busy`: it is still at the work before. `refused`: the system has none for us.
    enum class answer : uint32_t { started, busy, refused };
    answer start(void (*work)(void*), void* argument);

    /// False when it has ended, or none was started.
    [[nodiscard]] bool runs() const { return alive_.load(std::memory_order_acquire) != 0; }

#ifndef HALCYON_THREAD_BY_LIBRARY
    /// Where its thread-local variables would be: what takes no notice of the rule above can be caught there. Empty
    /// before it was started first.
    [[nodiscard]] std::span<char> thread_local_memory();
#endif

    /// In a forked child, which has only the thread that forked.
    void forget() {
        alive_ = 0;
    }

  private:
    std::atomic<uint32_t> alive_{0};  ///< the kernel clears it when the thread has left its stack
#ifdef HALCYON_THREAD_BY_LIBRARY
    static void* run(void* opaque);

    void (*work_)(void*) = nullptr;
    void* argument_ = nullptr;
#else
    bool prepare();

    char* stack_ = nullptr;
#endif
};

/// Runs `work(argument)` in a child process that shares this one's memory, on a stack of its own, while the calling
/// thread stands still until the child has ended or become another program (as vfork does it). The child makes direct
/// system calls only. No signal tells of its end, and the application's own waits do not find it, unless it has become
/// another program. Returns its number, or -errno.
int start_child(void (*work)(void*), void* argument);

/// Likewise, and waits until it has ended. Returns its status as waitpid() does, or -errno.
int run_in_child(void (*work)(void*), void* argument);

}  // namespace halcyon::calls
