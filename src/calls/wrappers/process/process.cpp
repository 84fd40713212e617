// fork, exec, posix_spawn and the ends of a process: what they do to the recording.
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "calls/backends/mounted_path.hpp"
#include "calls/state/given_memory.hpp"
#include "calls/state/program_file.hpp"
#include "calls/state/reach.hpp"
#include "calls/state/unseen.hpp"
#include "calls/wrappers/posix/name_shapes.hpp"
#include "calls/wrappers/versions.hpp"
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

/// The working directory, which the kernel does not know where it lies under a mount. There is room for one entry more.
void fill_working_directory(const char** environment) {
    constexpr std::string_view variable = backends::working_directory_variable;
    size_t kept = 0;
    for (size_t at = 0; environment[at] != nullptr; ++at) {
        const char* const each = environment[at];
        const bool is_older = std::strncmp(each, variable.data(), variable.size()) == 0 && each[variable.size()] == '=';
        if (!is_older) environment[kept++] = each;
    }
    if (const char* const ours = backends::working_directory_of_children()) environment[kept++] = ours;
    environment[kept] = nullptr;
}

/// Null for programs that will be recorded, or of which that is not known.
const char* why_unseen(program_file::kind what) {
    switch (what) {
        case program_file::kind::static_:
            return "a static program";
        case program_file::kind::privileged:
            return "a program that changes its user";
        case program_file::kind::foreign:
            return "a program of another architecture";
        case program_file::kind::absent:
            return nullptr;
        default:
            return children_can_record() ? nullptr : "a program that cannot write to the run's folder";
    }
}

/// Programs in which nothing will be recorded are told, each with its path.
void tell_unseen(const program_file& program) {
    const char* why = why_unseen(program.what);
    if (why == nullptr) return;
    char subject[program_file::longest_path + 64];
    char* end = stpcpy(stpcpy(stpcpy(subject, why), ": "), program.path);
    const std::string_view text(subject, static_cast<size_t>(end - subject));
    this_process().layers.each([&](layer& l) { l.on_absence(text, 1); });
}

/// A process's last call. `real()` returns only when it failed.
template <class Real>
int become(const program_file& program, Real real) {
    backends::before_exec();
    if (!recording()) return real();
    if (!is_own_process()) {  // the child of a vfork: its parent's trace tells
        tell_unseen(program);
        return real();
    }
    thread_state& thread = this_thread();
    call_record record = blank_record(call_id::exec);
    record.file = known_files::of_path(AT_FDCWD, program.path);
    record.start = ticks();
    const bool ends = program.what != program_file::kind::absent;
    if (ends) {
        tell_unseen(program);
        if (record.file != known_files::ignored) report(thread, record);
        tell_end(ending::exec);
    }
    const int result = real();
    record.duration = ticks() - record.start;
    record.result = result;
    record.error = static_cast<uint16_t>(errno);
    if (!ends && record.file != known_files::ignored) report(thread, record);
    errno = record.error;
    return result;
}

void before_end(ending how) {
    if (how == ending::exit) backends::before_end();
    if (!recording() || !is_own_process()) return;
    tell_end(how);
}

constexpr size_t preload_room = 4096;

/// Runs `start(environment)` with an environment in which the new program is recorded.
template <class Start>
int with_environment(const char* const* given, Start start) {
    if ((!recording() && !backends::present()) || !given::is_readable_list(given)) return start(given);
    const size_t entries = length_of(given) + length_of(environment_of_children()) + 2;
    char text[preload_room];
    // On the stack: allocating is not allowed here, nor in a child of vfork.
    auto** environment = static_cast<const char**>(__builtin_alloca(entries * sizeof(const char*)));
    fill_environment(environment, given, text, sizeof text);
    if (backends::present()) fill_working_directory(environment);
    return start(environment);
}

using arguments_type = char* const*;
using exec_function = int(const char*, arguments_type, arguments_type);

enum class search { no, along_path };

template <class Real>
int exec_with(Real real, const char* path, arguments_type arguments, const char* const* environment,
              search where = search::no) {
    return with_environment(environment, [&](const char* const* complete) {
        program_file program;
        program.look(path, where == search::along_path);
        return become(program, [&] { return real(path, arguments, const_cast<arguments_type>(complete)); });
    });
}

/// The arguments of execl and its like, up to the null that ends them.
#define LISTED_ARGUMENTS(first)                                                                  \
    va_list values;                                                                              \
    va_start(values, first);                                                                     \
    size_t count = 1;                                                                            \
    while (va_arg(values, const char*) != nullptr) ++count;                                      \
    va_end(values);                                                                              \
    auto** arguments = static_cast<const char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
    va_start(values, first);                                                                     \
    arguments[0] = first;                                                                        \
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
    return exec_with(REAL_EXECVPE, path, arguments, environment, search::along_path);
}

HALCYON_WRAPPER(execv, int, (const char* path, arguments_type arguments));
int halcyon_wrap_execv(const char* path, arguments_type arguments) {
    return exec_with(REAL_EXECVE, path, arguments, environ);
}

HALCYON_WRAPPER(execvp, int, (const char* path, arguments_type arguments));
int halcyon_wrap_execvp(const char* path, arguments_type arguments) {
    return exec_with(REAL_EXECVPE, path, arguments, environ, search::along_path);
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
    return exec_with(REAL_EXECVPE, path, const_cast<arguments_type>(arguments), environ, search::along_path);
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
    const auto real = HALCYON_REAL(fexecve, int, (int, arguments_type, arguments_type));
    if (environment == nullptr) return real(fd, arguments, environment);  // unlike execve, it wants one
    return with_environment(environment, [&](const char* const* complete) {
        program_file program;
        char path[program_file::longest_path];
        direct::path_of(fd, path, sizeof path);
        program.look(path, false);
        return become(program, [&] { return real(fd, arguments, const_cast<arguments_type>(complete)); });
    });
}

HALCYON_WRAPPER(execveat, int,
                (int directory, const char* path, arguments_type arguments, arguments_type environment, int flags));
int halcyon_wrap_execveat(int directory, const char* path, arguments_type arguments, arguments_type environment,
                          int flags) {
    return with_environment(environment, [&](const char* const* complete) {
        program_file program;
        char whole[2 * program_file::longest_path];
        size_t length = 0;
        size_t named = given::length_of_text(path, program_file::longest_path);
        if (named == given::unreadable) named = 0;
        if (named == 0 || *path != '/') {
            length = directory == AT_FDCWD ? 0 : direct::path_of(directory, whole, program_file::longest_path);
            if (length > 0 && named > 0) whole[length++] = '/';
        }
        if (named > 0) std::memcpy(whole + length, path, named);
        whole[length + named] = '\0';
        program.look(whole, false);
        return become(program, [&] {
            return HALCYON_REAL(execveat, int, (int, const char*, arguments_type, arguments_type, int))(
                directory, path, arguments, const_cast<arguments_type>(complete), flags);
        });
    });
}

namespace {
template <search where>
struct spawn_shape {
    template <class... Rest>
    static bool before(call_record& record, const pid_t*, const char* path, const Rest&...) {
        program_file program;
        program.look(path, where == search::along_path);
        tell_unseen(program);
        return shapes::set_path(record, AT_FDCWD, program.path[0] == '\0' ? path : program.path);
    }
    template <class... Rest>
    static void after(call_record& record, int result, const pid_t*, const char*, const Rest&...) {
        shapes::set_returned_error(record, result);
        this_process().unseen_moves.fetch_add(1);  // the child has our descriptors
    }
};
}  // namespace

using spawn_function = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                           arguments_type, arguments_type);

namespace versioned {
namespace {
template <search where>
int spawn_with(spawn_function* real, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, arguments_type arguments, arguments_type environment) {
    backends::before_fork();
    return with_environment(environment, [&](const char* const* complete) {
        return intercept<spawn_shape<where>, call_id::posix_spawn>(real, pid, path, actions, attributes, arguments,
                                                                   const_cast<arguments_type>(complete));
    });
}
}  // namespace

// The old ones run a file that is no program as a script of the shell.
int posix_spawn(spawn_function* real, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, arguments_type arguments, arguments_type environment) {
    return spawn_with<search::no>(real, pid, path, actions, attributes, arguments, environment);
}

int posix_spawnp(spawn_function* real, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, arguments_type arguments, arguments_type environment) {
    return spawn_with<search::along_path>(real, pid, path, actions, attributes, arguments, environment);
}

// The old one runs the destructors of thread-local objects.
void quick_exit(void (*real)(int), int status) {
    before_end(ending::exit);
    real(status);
    __builtin_unreachable();
}
}  // namespace versioned

// The child finds itself asleep (process_state); only the parent has something to note.
#define FORK(symbol)                                                            \
    HALCYON_WRAPPER(symbol, pid_t, ());                                         \
    pid_t halcyon_wrap_##symbol() {                                             \
        backends::before_fork();                                                \
        backends::keep_still();                                                 \
        const pid_t child = HALCYON_REAL(symbol, pid_t, ())();                  \
        if (child != 0) backends::go_on();                                      \
        if (child > 0 && recording()) this_process().unseen_moves.fetch_add(1); \
        return child;                                                           \
    }
FORK(fork)
FORK(__fork)
FORK(_Fork)

#define ENDS(symbol, how)                          \
    HALCYON_WRAPPER(symbol, void, (int status));   \
    void halcyon_wrap_##symbol(int status) {       \
        before_end(how);                           \
        HALCYON_REAL(symbol, void, (int))(status); \
        __builtin_unreachable();                   \
    }
ENDS(_exit, ending::exit)
ENDS(_Exit, ending::exit)

HALCYON_WRAPPER(abort, void, ());
void halcyon_wrap_abort() {
    before_end(ending::abort);
    HALCYON_REAL(abort, void, ())();
    __builtin_unreachable();
}

}  // namespace halcyon::calls
