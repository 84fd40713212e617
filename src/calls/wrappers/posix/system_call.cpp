// syscall(2): what an application asks of the kernel with it passes all other wrappers by. It is counted, so that a
// recording says what it lacks.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <optional>

#include "calls/backends/backend_files.hpp"
#include "calls/state/given_memory.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/unseen.hpp"
#include "calls/wrappers/process/vfork.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

constexpr long io_uring_setup = 425;

bool does_io(long number) {
    switch (number) {
        case SYS_read:
        case SYS_write:
        case SYS_pread64:
        case SYS_pwrite64:
        case SYS_readv:
        case SYS_writev:
        case SYS_preadv:
        case SYS_pwritev:
        case SYS_preadv2:
        case SYS_pwritev2:
        case SYS_openat:
        case SYS_openat2:
        case SYS_close:
        case SYS_lseek:
        case SYS_fsync:
        case SYS_fdatasync:
        case SYS_ftruncate:
        case SYS_fallocate:
        case SYS_sendfile:
        case SYS_splice:
        case SYS_copy_file_range:
        case SYS_statx:
        case SYS_newfstatat:
        case SYS_readlinkat:
        case SYS_unlinkat:
        case SYS_renameat:
        case SYS_renameat2:
        case SYS_mkdirat:
        case SYS_getdents64:
        case SYS_io_submit:
#ifdef SYS_open  // newer architectures have only openat
        case SYS_open:
        case SYS_stat:
        case SYS_lstat:
        case SYS_unlink:
        case SYS_rename:
        case SYS_mkdir:
#endif
            return true;
        default:
            return false;
    }
}

bool is_recorded_in(const char* const* environment) {
    if (!given::is_readable_list(environment)) return true;  // the kernel refuses it: nothing will be started
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        if (std::strncmp(*environment, "LD_PRELOAD=", 11) == 0 && std::strstr(*environment, "libhalcyon-io.so"))
            return true;
    }
    return false;
}

/// Of fork and its like the flags that clone would need; none for other system calls, and for those that the kernel
/// refuses. `a`, `b`: the first two arguments.
std::optional<uint64_t> flags_of_child(long number, long a, long b) {
    switch (number) {
        case SYS_clone:
            return static_cast<uint64_t>(a);
        case SYS_clone3: {
            constexpr long least_bytes = 64;  // CLONE_ARGS_SIZE_VER0
            uint64_t flags = 0;               // struct clone_args begins with them
            const bool is_refused = b < least_bytes || !given::read(reinterpret_cast<const void*>(a), flags);
            return is_refused ? std::nullopt : std::optional(flags);
        }
#ifdef SYS_fork
        case SYS_fork:
            return 0;
        case SYS_vfork:
            return CLONE_VM | CLONE_VFORK;
#endif
        default:
            return std::nullopt;
    }
}

bool moves_working_directory(long number) {
    return number == SYS_chdir || number == SYS_fchdir || number == SYS_chroot;
}

/// What a descriptor stands for may change with the call: whoever uses it next through the C library looks again.
void forget_owners(long number, long a, long b, long c) {
    const auto first = static_cast<unsigned>(a);
    switch (number) {
        case SYS_close:
            return backends::closing(static_cast<int>(a));
        case SYS_close_range:
            return (c & CLOSE_RANGE_CLOEXEC) != 0 ? void() : backends::closing_range(first, static_cast<unsigned>(b));
#ifdef SYS_dup2
        case SYS_dup2:
#endif
        case SYS_dup3:
            return a != b ? backends::closing(static_cast<int>(b)) : void();
        case SYS_fcntl:
            if (b == F_SETFL) backends::flags_changed(static_cast<int>(a), static_cast<int>(c));
            return;
        default:
            return;
    }
}

/// What is between a process and its end, or another program: the call may fail, and the recording goes on.
void end_with(ending how, long environment) {
    if (how == ending::exec && !is_recorded_in(reinterpret_cast<const char* const*>(environment))) {
        this_process().layers.each([](layer& l) { l.on_absence("programs started with syscall(2)", 1); });
    }
    if (is_own_process()) tell_end(how);
}

}  // namespace

/// These have one argument. Forgotten is the directory afterwards: another thread may ask for it meanwhile.
static long move_working_directory(long number, long to) {
    const long result = HALCYON_REAL(syscall, long, (long, ...))(number, to);
    known_files::forget_directory();
    return result;
}

/// Notes the call; returns the address of the function that makes it: as a rule the C library's. `a` to `d`: its first
/// four arguments.
extern "C" __attribute__((visibility("hidden"), used)) void* halcyon_before_syscall(long number, long a, long b, long c,
                                                                                    long d) {
    if (number == SYS_exit_group) backends::before_end();
    if (backends::present()) forget_owners(number, a, b, c);
    if (recording() && !unseen::counted_apart) {
        if (const auto flags = flags_of_child(number, a, b)) before_clone(*flags);
        if (moves_working_directory(number)) return reinterpret_cast<void*>(&move_working_directory);
        if (number == io_uring_setup)
            unseen::ring_was_made();
        else if (number == SYS_execve || number == SYS_execveat)
            end_with(ending::exec, number == SYS_execve ? c : d);
        else if (number == SYS_exit_group)
            end_with(ending::exit, 0);
        else if (does_io(number)) {
            unseen::system_call_was_made();
            this_process().unseen_moves.fetch_add(1);
        }
    }
    return reinterpret_cast<void*>(HALCYON_REAL(syscall, long, (long)));
}

// Some system calls return twice, or on another stack: this one jumps, with all that its caller gave.
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl " HALCYON_WRAPPER_SYMBOL(syscall) "\n"
        ".type " HALCYON_WRAPPER_SYMBOL(syscall) ", @function\n"
        HALCYON_WRAPPER_SYMBOL(syscall) ":\n"
        "endbr64\n"
        "pushq %rdi\n"
        "pushq %rsi\n"
        "pushq %rdx\n"
        "pushq %rcx\n"
        "pushq %r8\n"
        "pushq %r9\n"
        "subq $8, %rsp\n"
        "call halcyon_before_syscall\n"
        "addq $8, %rsp\n"
        "popq %r9\n"
        "popq %r8\n"
        "popq %rcx\n"
        "popq %rdx\n"
        "popq %rsi\n"
        "popq %rdi\n"
        "jmp *%rax\n"
        ".size " HALCYON_WRAPPER_SYMBOL(syscall) ", . - " HALCYON_WRAPPER_SYMBOL(syscall) "\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl " HALCYON_WRAPPER_SYMBOL(syscall) "\n"
        ".type " HALCYON_WRAPPER_SYMBOL(syscall) ", %function\n"
        HALCYON_WRAPPER_SYMBOL(syscall) ":\n"
        "stp x29, x30, [sp, #-80]!\n"
        "stp x0, x1, [sp, #16]\n"
        "stp x2, x3, [sp, #32]\n"
        "stp x4, x5, [sp, #48]\n"
        "stp x6, x7, [sp, #64]\n"
        "bl halcyon_before_syscall\n"
        "mov x16, x0\n"
        "ldp x0, x1, [sp, #16]\n"
        "ldp x2, x3, [sp, #32]\n"
        "ldp x4, x5, [sp, #48]\n"
        "ldp x6, x7, [sp, #64]\n"
        "ldp x29, x30, [sp], #80\n"
        "br x16\n"
        ".size " HALCYON_WRAPPER_SYMBOL(syscall) ", . - " HALCYON_WRAPPER_SYMBOL(syscall) "\n");
#endif

}  // namespace halcyon::calls
