// fork, exec, posix_spawn and the ends of a process: what they do to the recording.
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "calls/wrappers/shapes.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

size_t length_of(const char* const* list) {
    size_t count = 0;
    while (list != nullptr && list[count] != nullptr) ++count;
    return count;
}

/// The value where `entry` is `name=value` with the same name as `wanted` (also `name=value`); else null.
const char* value_if_named_like(const char* entry, const char* wanted) {
    while (*entry == *wanted && *entry != '=' && *entry != '\0') ++entry, ++wanted;
    return *entry == '=' && *wanted == '=' ? entry + 1 : nullptr;
}

/// `into` gets `given` with what recording needs added or, for LD_PRELOAD, put before what is there. Room is needed for
/// two entries more than the two lists have; `text` holds a joined LD_PRELOAD.
void fill_environment(const char** into, const char* const* given, char* text, size_t room) {
    const char* const* needed = environment_of_children();
    size_t count = 0;
    for (const char* const* entry = given; entry != nullptr && *entry != nullptr; ++entry) into[count++] = *entry;
    for (; *needed != nullptr; ++needed) {
        size_t at = 0;
        const char* present = nullptr;
        while (at < count && (present = value_if_named_like(into[at], *needed)) == nullptr) ++at;
        if (present == nullptr) {
            into[count++] = *needed;
        } else if (std::strncmp(*needed, "LD_PRELOAD=", 11) == 0 && std::strstr(present, *needed + 11) == nullptr) {
            const size_t ours = std::strlen(*needed);
            const size_t theirs = std::strlen(present);
            if (ours + theirs + 2 > room) continue;
            std::memcpy(text, *needed, ours);
            text[ours] = ':';
            std::memcpy(text + ours + 1, present, theirs + 1);
            into[at] = text;
        }
    }
    into[count] = nullptr;
}

/// Says that this process is about to become another program: what was recorded is complete if it does.
void before_exec(const char* path) {
    if (!recording() || !is_own_process()) return;
    thread_state& thread = this_thread();
    call_record record = blank_record(call_id::exec);
    record.file = known_files::of_path(AT_FDCWD, path);
    record.start = ticks();
    if (record.file != known_files::ignored) report(thread, record);
    this_process().layers.each([](layer& l) { l.on_end(ending::exec); });
}

void before_end(ending how) {
    if (!recording() || !is_own_process()) return;
    this_process().layers.each([how](layer& l) { l.on_end(how); });
}

constexpr size_t preload_room = 4096;

/// Runs `start(environment)` with an environment in which the new program is recorded.
template <class Start>
int with_environment(const char* const* given, Start start) {
    if (!recording()) return start(given);
    const size_t entries = length_of(given) + length_of(environment_of_children()) + 1;
    char text[preload_room];
    // On the stack: allocating is not allowed here, nor in a child of vfork.
    auto** environment = static_cast<const char**>(__builtin_alloca(entries * sizeof(const char*)));
    fill_environment(environment, given, text, sizeof text);
    return start(environment);
}

using arguments_type = char* const*;
using exec_function = int(const char*, arguments_type, arguments_type);

template <class Real>
int exec_with(Real real, const char* path, arguments_type arguments, const char* const* environment) {
    return with_environment(environment, [&](const char* const* complete) {
        before_exec(path);
        return real(path, arguments, const_cast<arguments_type>(complete));
    });
}

/// The arguments of execl and its like, up to the null that ends them.
#define LISTED_ARGUMENTS(first)                                                                    \
    va_list values;                                                                                \
    va_start(values, first);                                                                       \
    size_t count = 1;                                                                              \
    while (va_arg(values, const char*) != nullptr) ++count;                                        \
    va_end(values);                                                                                \
    auto** arguments = static_cast<const char**>(__builtin_alloca((count + 1) * sizeof(char*)));   \
    va_start(values, first);                                                                       \
    arguments[0] = first;                                                                          \
    for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(values, const char*);

}  // namespace

#define REAL_EXECVE HALCYON_REAL(execve, int, (const char*, arguments_type, arguments_type))
#define REAL_EXECVPE HALCYON_REAL(execvpe, int, (const char*, arguments_type, arguments_type))

HALCYON_WRAPPER(execve, int, (const char* path, arguments_type arguments, arguments_type environment));
int halcyon_wrap_execve(const char* path, arguments_type arguments, arguments_type environment) {
    return exec_with(REAL_EXECVE, path, arguments, environment);
}

HALCYON_WRAPPER(execvpe, int, (const char* path, arguments_type arguments, arguments_type environment));
int halcyon_wrap_execvpe(const char* path, arguments_type arguments, arguments_type environment) {
    return exec_with(REAL_EXECVPE, path, arguments, environment);
}

HALCYON_WRAPPER(execv, int, (const char* path, arguments_type arguments));
int halcyon_wrap_execv(const char* path, arguments_type arguments) {
    return exec_with(REAL_EXECVE, path, arguments, environ);
}

HALCYON_WRAPPER(execvp, int, (const char* path, arguments_type arguments));
int halcyon_wrap_execvp(const char* path, arguments_type arguments) {
    return exec_with(REAL_EXECVPE, path, arguments, environ);
}

HALCYON_WRAPPER(execl, int, (const char* path, const char* first, ...));
int halcyon_wrap_execl(const char* path, const char* first, ...) {
    LISTED_ARGUMENTS(first)
    va_end(values);
    return exec_with(REAL_EXECVE, path, const_cast<arguments_type>(arguments), environ);
}

HALCYON_WRAPPER(execlp, int, (const char* path, const char* first, ...));
int halcyon_wrap_execlp(const char* path, const char* first, ...) {
    LISTED_ARGUMENTS(first)
    va_end(values);
    return exec_with(REAL_EXECVPE, path, const_cast<arguments_type>(arguments), environ);
}

HALCYON_WRAPPER(execle, int, (const char* path, const char* first, ...));
int halcyon_wrap_execle(const char* path, const char* first, ...) {
    LISTED_ARGUMENTS(first)
    const auto environment = va_arg(values, const char* const*);
    va_end(values);
    return exec_with(REAL_EXECVE, path, const_cast<arguments_type>(arguments), environment);
}

HALCYON_WRAPPER(fexecve, int, (int fd, arguments_type arguments, arguments_type environment));
int halcyon_wrap_fexecve(int fd, arguments_type arguments, arguments_type environment) {
    return with_environment(environment, [&](const char* const* complete) {
        before_exec(nullptr);
        return HALCYON_REAL(fexecve, int, (int, arguments_type, arguments_type))(
            fd, arguments, const_cast<arguments_type>(complete));
    });
}

HALCYON_WRAPPER(execveat, int,
                (int directory, const char* path, arguments_type arguments, arguments_type environment, int flags));
int halcyon_wrap_execveat(int directory, const char* path, arguments_type arguments, arguments_type environment,
                          int flags) {
    return with_environment(environment, [&](const char* const* complete) {
        before_exec(path);
        return HALCYON_REAL(execveat, int, (int, const char*, arguments_type, arguments_type, int))(
            directory, path, arguments, const_cast<arguments_type>(complete), flags);
    });
}

namespace {
struct spawn_shape {
    template <class... Rest>
    static bool before(call_record& record, const pid_t*, const char* path, const Rest&...) {
        return shapes::set_path(record, AT_FDCWD, path);
    }
    template <class... Rest>
    static void after(call_record& record, int result, const pid_t*, const char*, const Rest&...) {
        shapes::set_returned_error(record, result);
        this_process().forks.fetch_add(1);  // the child has our descriptors
    }
};
}  // namespace

#define SPAWN(symbol)                                                                                               \
    HALCYON_WRAPPER(symbol, int,                                                                                    \
                    (pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,                      \
                     const posix_spawnattr_t* attributes, arguments_type arguments, arguments_type environment));   \
    int halcyon_wrap_##symbol(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,              \
                              const posix_spawnattr_t* attributes, arguments_type arguments,                        \
                              arguments_type environment) {                                                         \
        return with_environment(environment, [&](const char* const* complete) {                                     \
            return intercept<spawn_shape, call_id::posix_spawn>(                                                    \
                HALCYON_REAL(symbol, int,                                                                           \
                             (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,     \
                              arguments_type, arguments_type)),                                                     \
                pid, path, actions, attributes, arguments, const_cast<arguments_type>(complete));                   \
        });                                                                                                         \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

// The child finds itself asleep (process_state); only the parent has something to note.
#define FORK(symbol)                                                             \
    HALCYON_WRAPPER(symbol, pid_t, ());                                          \
    pid_t halcyon_wrap_##symbol() {                                              \
        const pid_t child = HALCYON_REAL(symbol, pid_t, ())();                   \
        if (child > 0 && recording()) this_process().forks.fetch_add(1);         \
        return child;                                                            \
    }
FORK(fork)
FORK(__fork)
FORK(_Fork)

#define ENDS(symbol, how)                                           \
    HALCYON_WRAPPER(symbol, void, (int status));                    \
    void halcyon_wrap_##symbol(int status) {                        \
        before_end(how);                                            \
        HALCYON_REAL(symbol, void, (int))(status);                  \
        __builtin_unreachable();                                    \
    }
ENDS(_exit, ending::exit)
ENDS(_Exit, ending::exit)
ENDS(quick_exit, ending::exit)

HALCYON_WRAPPER(abort, void, ());
void halcyon_wrap_abort() {
    before_end(ending::abort);
    HALCYON_REAL(abort, void, ())();
    __builtin_unreachable();
}

}  // namespace halcyon::calls
