// vfork, and clone as vfork: the child runs in its parent's memory, as the same thread, until it becomes another
// program. What it does to its descriptors is not done to the parent's, so that nothing of it may be noted
// (may_record).
#include "calls/wrappers/process/vfork.hpp"

#include <sched.h>
#include <unistd.h>

#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

void share_memory_with_child() {
    if (!recording() && !backends::present()) return;
    backends::before_fork();
    this_thread().inside |= vforked;
    this_process().unseen_moves.fetch_add(1);  // the child has our descriptors
}

}  // namespace

void before_clone(uint64_t flags) {
    if ((flags & CLONE_THREAD) != 0) return;
    if ((flags & (CLONE_VM | CLONE_VFORK)) == (CLONE_VM | CLONE_VFORK)) return share_memory_with_child();
    backends::before_fork();
    if (recording()) this_process().unseen_moves.fetch_add(1);
}

extern "C" __attribute__((visibility("hidden"), used)) void* halcyon_before_vfork() {
    share_memory_with_child();
    return reinterpret_cast<void*>(HALCYON_REAL(vfork, pid_t, ()));
}

// A function that returns twice must not have a frame of its own when it is called: this one jumps.
#if defined(__x86_64__)
#define VFORK(symbol) \
    __asm__(".text\n"                                     \
            ".globl " HALCYON_WRAPPER_SYMBOL(symbol) "\n" \
            ".type " HALCYON_WRAPPER_SYMBOL(symbol) ", @function\n" \
            HALCYON_WRAPPER_SYMBOL(symbol) ":\n"          \
            "endbr64\n"                                   \
            "subq $8, %rsp\n"                             \
            "call halcyon_before_vfork\n"                 \
            "addq $8, %rsp\n"                             \
            "jmp *%rax\n"                                 \
            ".size " HALCYON_WRAPPER_SYMBOL(symbol) ", . - " HALCYON_WRAPPER_SYMBOL(symbol) "\n");
#elif defined(__aarch64__)
#define VFORK(symbol) \
    __asm__(".text\n"                                     \
            ".globl " HALCYON_WRAPPER_SYMBOL(symbol) "\n" \
            ".type " HALCYON_WRAPPER_SYMBOL(symbol) ", %function\n" \
            HALCYON_WRAPPER_SYMBOL(symbol) ":\n"          \
            "stp x29, x30, [sp, #-16]!\n"                 \
            "bl halcyon_before_vfork\n"                   \
            "mov x16, x0\n"                               \
            "ldp x29, x30, [sp], #16\n"                   \
            "br x16\n"                                    \
            ".size " HALCYON_WRAPPER_SYMBOL(symbol) ", . - " HALCYON_WRAPPER_SYMBOL(symbol) "\n");
#endif
VFORK(vfork)
VFORK(__vfork)

// Variadic in C; whatever the caller gave is in the same places, the last argument on the stack.
HALCYON_WRAPPER(clone, int,
                (int (*function)(void*), void* stack, int flags, void* argument, void* a, void* b, void* c));
int halcyon_wrap_clone(int (*function)(void*), void* stack, int flags, void* argument, void* a, void* b, void* c) {
    before_clone(static_cast<uint64_t>(static_cast<unsigned>(flags)));
    const bool forks = (flags & CLONE_VM) == 0;
    if (forks) backends::keep_still();
    const int child = HALCYON_REAL(clone, int, (int (*)(void*), void*, int, void*, void*, void*, void*))(
        function, stack, flags, argument, a, b, c);
    if (forks) backends::go_on();  // in the child, the function does not return
    return child;
}

}  // namespace halcyon::calls
