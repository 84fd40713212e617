#include "calls/state/own_thread.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "calls/state/direct_call.hpp"

#ifdef HALCYON_THREAD_BY_LIBRARY
#include <pthread.h>
#endif

namespace halcyon::calls {

namespace {

constexpr size_t all_signals = 8;  // bytes of the kernel's set

}  // namespace

#ifdef HALCYON_THREAD_BY_LIBRARY

int start_child(void (*work)(void*), void* argument) {
    const long process = direct::call(SYS_clone, 0, 0, 0, 0, 0);
    if (process != 0) return static_cast<int>(process);
    work(argument);
    for (;;) direct::call(SYS_exit_group, 0);
}

void* own_thread::run(void* opaque) {
    auto& of = *static_cast<own_thread*>(opaque);
    of.work_(of.argument_);
    of.alive_.store(0);
    return nullptr;
}

own_thread::answer own_thread::start(void (*work)(void*), void* argument) {
    uint32_t none = 0;
    if (!alive_.compare_exchange_strong(none, 1)) return answer::busy;
    work_ = work;
    argument_ = argument;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, this) != 0) {
        alive_ = 0;
        return answer::refused;
    }
    pthread_detach(thread);
    return answer::started;
}

#else

namespace {

constexpr size_t stack_bytes = size_t{256} * 1024;
// Behind the stack: what thread-local variables of programs and libraries take, and what the thread register points to.
constexpr size_t variable_bytes = size_t{64} * 1024;
constexpr size_t tail_bytes = 4096;

/// On a stack of its own; the child finds `work` and `argument` on top of it, and ends with the system call.
#if defined(__x86_64__)
long clone_onto(long flags, char* stack, std::atomic<uint32_t>* alive, void* registers) {
    long result;
    register long r10 __asm__("r10") = direct::address(alive);
    register long r8 __asm__("r8") = direct::address(registers);
    __asm__ volatile(
        "syscall\n\t"
        "testq %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xorl %%ebp, %%ebp\n\t"
        "popq %%rax\n\t"
        "popq %%rdi\n\t"
        "callq *%%rax\n\t"
        "xorl %%edi, %%edi\n\t"
        "movl %[leave], %%eax\n\t"
        "syscall\n"
        "1:"
        : "=a"(result)
        : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(0), "r"(r10), "r"(r8), [leave] "i"(SYS_exit)
        : "rcx", "r11", "memory");
    return result;
}

void fill_registers(char* at) {
    std::memset(at, 0, tail_bytes);
    const auto self = reinterpret_cast<uintptr_t>(at);
    std::memcpy(at, &self, sizeof self);
    uint64_t canary = 0;  // of the stack protector
    __asm__("movq %%fs:0x28, %0" : "=r"(canary));
    std::memcpy(at + 0x28, &canary, sizeof canary);
}
#elif defined(__aarch64__)
long clone_onto(long flags, char* stack, std::atomic<uint32_t>* alive, void* registers) {
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register long x1 __asm__("x1") = direct::address(stack);
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = direct::address(registers);
    register long x4 __asm__("x4") = direct::address(alive);
    __asm__ volatile(
        "svc 0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, #0\n\t"
        "ldp x1, x0, [sp], #16\n\t"
        "blr x1\n\t"
        "mov x0, #0\n\t"
        "mov x8, %[leave]\n\t"
        "svc 0\n"
        "1:"
        : "+r"(x0)
        : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [leave] "i"(SYS_exit)
        : "x30", "memory");
    return x0;
}

void fill_registers(char* at) {
    std::memset(at, 0, tail_bytes);
}
#endif

}  // namespace

bool own_thread::prepare() {
    if (stack_ == nullptr) stack_ = static_cast<char*>(direct::map_memory(stack_bytes + variable_bytes + tail_bytes));
    return stack_ != nullptr;
}

std::span<char> own_thread::thread_local_memory() {
    return stack_ == nullptr ? std::span<char>{} : std::span(stack_ + stack_bytes, variable_bytes);
}

own_thread::answer own_thread::start(void (*work)(void*), void* argument) {
    uint32_t none = 0;
    if (!alive_.compare_exchange_strong(none, 1, std::memory_order_acquire)) return answer::busy;
    if (!prepare()) {
        alive_ = 0;
        return answer::refused;
    }
    char* top = stack_ + stack_bytes;
    char* registers = top + variable_bytes;
    fill_registers(registers);
    const long first[] = {reinterpret_cast<long>(work), direct::address(argument)};
    char* start = top - sizeof first;
    std::memcpy(start, first, sizeof first);
    constexpr long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                           CLONE_SETTLS | CLONE_CHILD_CLEARTID;
    const uint64_t all = ~uint64_t{0};
    uint64_t before = 0;
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&all), direct::address(&before), all_signals);
    const long result = clone_onto(flags, start, &alive_, registers);
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&before), 0, all_signals);
    if (result > 0) return answer::started;
    alive_ = 0;
    return answer::refused;
}

int start_child(void (*work)(void*), void* argument) {
    constexpr size_t bytes = size_t{64} * 1024;
    char* const stack = static_cast<char*>(direct::map_memory(bytes));
    if (stack == nullptr) return -ENOMEM;
    const long first[] = {reinterpret_cast<long>(work), direct::address(argument)};
    char* const start = stack + bytes - sizeof first;
    std::memcpy(start, first, sizeof first);
    const uint64_t all = ~uint64_t{0};
    uint64_t before = 0;
    // A handler of the application would run in the child, too.
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&all), direct::address(&before), all_signals);
    const long process = clone_onto(CLONE_VM | CLONE_VFORK, start, nullptr, nullptr);
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&before), 0, all_signals);
    direct::call(SYS_munmap, direct::address(stack), bytes);
    return static_cast<int>(process);
}

#endif

int run_in_child(void (*work)(void*), void* argument) {
    const int process = start_child(work, argument);
    if (process < 0) return process;
    int status = 0;
    long result = 0;
    do result = direct::call(SYS_wait4, process, direct::address(&status), __WALL, 0);
    while (result == -EINTR);
    return result < 0 ? static_cast<int>(result) : status;
}

}  // namespace halcyon::calls
