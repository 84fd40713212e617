// Messages to standard error: warn, err, error and their like. Those that end the process do so here, after the message
// was recorded.
#ifndef HALCYON_STATIC_IO  // static programs keep theirs (programs/io/interposed_functions.cpp)
#include <dlfcn.h>
#include <error.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#include "calls/wrappers/stdio/complete_message.hpp"
#include "calls/wrappers/stdio/stdio_bound.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

bool is_of_c_library(const void* function) {
    Dl_info there{};
    Dl_info library{};
    return dladdr(function, &there) != 0 && dladdr(find_real_function("gnu_get_libc_version"), &library) != 0 &&
           there.dli_fbase == library.dli_fbase;
}

/// Where a call of `symbol` goes: to our function, which uses the C library's `needed`; or past us.
void* way_of(void*& slot, const char* symbol, const char* needed, void* ours) {
    if (slot != nullptr) return slot;
    const int saved = errno;  // the message may be about it
    void* next = find_real_function(symbol);
    slot = is_of_c_library(next) && is_of_c_library(find_real_function(needed)) ? ours : next;
    errno = saved;
    return slot;
}

}  // namespace

// Libraries have functions of their own by these names, with other parameters, and their calls of them come here. Such
// a call goes on to the library's function as it came: with all that may hold its arguments.
#if defined(__x86_64__)
#define TYPE_FUNCTION "@function"
#define GO_THE_WAY_OF(symbol)                             \
    "endbr64\n"                                           \
    "pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n" \
    "pushq %r8\n pushq %r9\n pushq %rax\n"                \
    "subq $128, %rsp\n"                                   \
    "movups %xmm0, (%rsp)\n movups %xmm1, 16(%rsp)\n"     \
    "movups %xmm2, 32(%rsp)\n movups %xmm3, 48(%rsp)\n"   \
    "movups %xmm4, 64(%rsp)\n movups %xmm5, 80(%rsp)\n"   \
    "movups %xmm6, 96(%rsp)\n movups %xmm7, 112(%rsp)\n"  \
    "call halcyon_way_of_" symbol                         \
    "\n"                                                  \
    "movq %rax, %r11\n"                                   \
    "movups (%rsp), %xmm0\n movups 16(%rsp), %xmm1\n"     \
    "movups 32(%rsp), %xmm2\n movups 48(%rsp), %xmm3\n"   \
    "movups 64(%rsp), %xmm4\n movups 80(%rsp), %xmm5\n"   \
    "movups 96(%rsp), %xmm6\n movups 112(%rsp), %xmm7\n"  \
    "addq $128, %rsp\n"                                   \
    "popq %rax\n popq %r9\n popq %r8\n"                   \
    "popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n"     \
    "jmp *%r11\n"
#elif defined(__aarch64__)
#define TYPE_FUNCTION "%function"
#define GO_THE_WAY_OF(symbol)                           \
    "stp x29, x30, [sp, #-224]!\n"                      \
    "stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n"   \
    "stp x4, x5, [sp, #48]\n stp x6, x7, [sp, #64]\n"   \
    "str x8, [sp, #80]\n"                               \
    "stp q0, q1, [sp, #96]\n stp q2, q3, [sp, #128]\n"  \
    "stp q4, q5, [sp, #160]\n stp q6, q7, [sp, #192]\n" \
    "bl halcyon_way_of_" symbol                         \
    "\n"                                                \
    "mov x16, x0\n"                                     \
    "ldp q0, q1, [sp, #96]\n ldp q2, q3, [sp, #128]\n"  \
    "ldp q4, q5, [sp, #160]\n ldp q6, q7, [sp, #192]\n" \
    "ldr x8, [sp, #80]\n"                               \
    "ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n"   \
    "ldp x4, x5, [sp, #48]\n ldp x6, x7, [sp, #64]\n"   \
    "ldp x29, x30, [sp], #224\n"                        \
    "br x16\n"
#endif

/// Defines `symbol`, whose wrapper halcyon_message_<symbol> stands before it.
#define HALCYON_MESSAGE(symbol, needed)                                                             \
    extern "C" __attribute__((visibility("hidden"), used)) void* halcyon_way_of_##symbol() {        \
        static void* found = nullptr;                                                               \
        return way_of(found, #symbol, #needed, reinterpret_cast<void*>(&halcyon_message_##symbol)); \
    }                                                                                               \
    __asm__(".text\n.globl " #symbol "\n.type " #symbol ", " TYPE_FUNCTION "\n" #symbol             \
            ":\n" GO_THE_WAY_OF(#symbol) ".size " #symbol ", . - " #symbol "\n");

// --- warn, err ---

#define WARNING(symbol, listed)                                                 \
    static void halcyon_message_##listed(const char* format, va_list values) {  \
        formatted<shapes::write_uncounted, call_id::warn>(stderr, [&] {         \
            HALCYON_REAL(listed, void, (const char*, va_list))(format, values); \
            return 0;                                                           \
        });                                                                     \
    }                                                                           \
    static void halcyon_message_##symbol(const char* format, ...) {             \
        va_list values;                                                         \
        va_start(values, format);                                               \
        halcyon_message_##listed(format, values);                               \
        va_end(values);                                                         \
    }                                                                           \
    HALCYON_MESSAGE(listed, listed)                                             \
    HALCYON_MESSAGE(symbol, listed)
WARNING(warn, vwarn)
WARNING(warnx, vwarnx)

// In the C library, too, they are a warning and exit.
#define LAST_WORDS(symbol, listed, warning)                                                             \
    [[noreturn]] static void halcyon_message_##listed(int status, const char* format, va_list values) { \
        formatted<shapes::write_uncounted, call_id::err>(stderr, [&] {                                  \
            HALCYON_REAL(warning, void, (const char*, va_list))(format, values);                        \
            return 0;                                                                                   \
        });                                                                                             \
        exit(status);                                                                                   \
    }                                                                                                   \
    [[noreturn]] static void halcyon_message_##symbol(int status, const char* format, ...) {            \
        va_list values;                                                                                 \
        va_start(values, format);                                                                       \
        halcyon_message_##listed(status, format, values);                                               \
    }                                                                                                   \
    HALCYON_MESSAGE(listed, warning)                                                                    \
    HALCYON_MESSAGE(symbol, warning)
LAST_WORDS(err, verr, vwarn)
LAST_WORDS(errx, verrx, vwarnx)

// --- error, which no function with a va_list stands behind: it gets a message that is complete ---

namespace {

/// As error does, while it writes.
class not_cancelled {
  public:
    not_cancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~not_cancelled() { pthread_setcancelstate(before_, nullptr); }
    not_cancelled(const not_cancelled&) = delete;
    not_cancelled& operator=(const not_cancelled&) = delete;

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

/// `write(text)` calls the C library's, with a status that does not end the process. It would flush standard output
/// first, which is seen only when it is done here.
template <class Write>
void tell_error(const char* format, va_list values, Write write) {
    const not_cancelled whole;
    const complete_message message(format, values);
    shapes::flush_stream(stdout);
    formatted<shapes::write_uncounted, call_id::error>(stderr, [&] {
        write(message.text());
        return 0;
    });
}

/// What the C library remembers for error_one_per_line: one message for each line of a file.
bool is_told_already(const char* file, unsigned line) {
    static const char* last_file = nullptr;
    static unsigned last_line = 0;
    const bool same_file =
        file == last_file || (file != nullptr && last_file != nullptr && strcmp(file, last_file) == 0);
    if (line == last_line && same_file) return true;
    last_file = file;
    last_line = line;
    return false;
}

}  // namespace

static void halcyon_message_error(int status, int number, const char* format, ...) {
    va_list values;
    va_start(values, format);
    tell_error(format, values, [&](const char* text) {
        HALCYON_REAL(error, void, (int, int, const char*, ...))(0, number, "%s", text);
    });
    va_end(values);
    if (status != 0) exit(status);
}
HALCYON_MESSAGE(error, error)

static void halcyon_message_error_at_line(int status, int number, const char* file, unsigned line, const char* format,
                                          ...) {
    if (error_one_per_line != 0 && is_told_already(file, line)) return;
    va_list values;
    va_start(values, format);
    tell_error(format, values, [&](const char* text) {
        HALCYON_REAL(error_at_line, void, (int, int, const char*, unsigned, const char*, ...))
        (0, number, file, line, "%s", text);
    });
    va_end(values);
    if (status != 0) exit(status);
}
HALCYON_MESSAGE(error_at_line, error_at_line)

}  // namespace halcyon::calls
#endif
