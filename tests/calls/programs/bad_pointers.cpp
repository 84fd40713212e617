// Calls each interposed function of the C library with pointers to memory that cannot be read, one at a time, and says
// what came of it: the result and errno, or the signal that ended the process. A recorded run says the same as any
// other. Usage: bad_pointers <directory>
//
// Functions and their parameters come from the table; those that it does not describe (WRITTEN) are called below.
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

constexpr size_t page = 4096;
const char* directory;

/// What a process that is ended by a try has done before, for the one that goes on behind it.
struct progress {
    unsigned begun;
    size_t told;
    char text[1 << 20];
};
progress* shared;

void tell(const std::string& line) {
    if (shared->told + line.size() > sizeof shared->text) _exit(3);
    std::memcpy(shared->text + shared->told, line.data(), line.size());
    shared->told += line.size();
}

// --- arguments ---

/// Pages of which the second cannot be read; anew for each try, because munmap is among them.
char* guarded_memory() {
    void* at = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* bytes = static_cast<char*>(at);
    std::memset(bytes, 'x', page);
    mprotect(bytes + page, page, PROT_NONE);
    return bytes;
}

constexpr const char* bad_names[] = {"null", "the last address", "no access", "the end of what can be read"};
constexpr unsigned bad_count = 4;

void* bad_pointer(unsigned which) {
    switch (which) {
        case 0:
            return nullptr;
        case 1:
            return reinterpret_cast<void*>(UINTPTR_MAX);
        case 2:
            return guarded_memory() + page;
        default:
            return guarded_memory() + page - 4;
    }
}

std::string scratch_path() {
    return std::string(directory) + "/file";
}

int scratch_file() {
    return open(scratch_path().c_str(), O_RDWR | O_CREAT, 0600);
}

/// An argument that is as it should be. `name`: the parameter's.
template <class Type>
Type good(std::string_view name) {
    if constexpr (std::is_same_v<Type, FILE*>) {
        return fopen(scratch_path().c_str(), "r+");
    } else if constexpr (std::is_same_v<Type, DIR*>) {
        return opendir(directory);
    } else if constexpr (std::is_pointer_v<Type>) {
        using pointed = std::remove_cv_t<std::remove_pointer_t<Type>>;
        // Room for whatever it is, all zero: requests, times, signals, positions.
        auto* bytes = static_cast<char*>(std::calloc(1, page));
        if constexpr (std::is_same_v<pointed, char>) {
            std::strcpy(bytes, name == "mode" ? "r" : scratch_path().c_str());
        } else if constexpr (std::is_same_v<pointed, iovec>) {
            new (bytes) iovec{std::calloc(1, page), 16};
        } else if constexpr (std::is_same_v<pointed, aiocb>) {
            reinterpret_cast<aiocb*>(bytes)->aio_fildes = scratch_file();
        }
        return reinterpret_cast<Type>(bytes);
    } else {
        if (name == "fd" || name == "from" || name == "to") return static_cast<Type>(scratch_file());
        if (name == "directory" || name == "to_directory") return static_cast<Type>(AT_FDCWD);
        if (name == "version" || name == "count") return static_cast<Type>(1);
        if (name == "bytes" || name == "size" || name == "room" || name == "before") return static_cast<Type>(16);
        return Type{};
    }
}

std::vector<std::string> words_of(const char* names) {
    std::vector<std::string> words(1);
    for (; *names != '\0'; ++names) {
        if (*names == ',')
            words.emplace_back();
        else if (*names != ' ' && *names != '(' && *names != ')')
            words.back() += *names;
    }
    return words;
}

// --- tries ---

template <class Result>
std::string described(Result result) {
    const std::string reason = ", errno " + std::to_string(errno);
    if constexpr (std::is_pointer_v<Result>) {
        if (result == nullptr) return "null" + reason;
        return reinterpret_cast<void*>(result) == MAP_FAILED ? "failed" + reason : "an address";
    } else {
        return std::to_string(result) + (result == static_cast<Result>(-1) ? reason : "");
    }
}

/// In a process of its own, and from the failed one on in another, makes all tries that `each(try_it)` makes:
/// try_it(what, call).
template <class Each>
void in_own_process(const char* name, Each each) {
    shared->begun = 0;
    for (bool is_complete = false; !is_complete;) {
        const pid_t child = fork();
        if (child == 0) {
            unsigned number = 0;
            each([&](const std::string& what, auto call) {
                if (number++ < shared->begun) return;
                ++shared->begun;
                tell(std::string(name) + ", " + what + ": ");
                errno = 0;
                if constexpr (std::is_void_v<decltype(call())>) {
                    call();
                    tell("returned\n");
                } else {
                    tell(described(call()) + "\n");
                }
            });
            syscall(SYS_exit_group, 77);
        }
        int status = 0;
        waitpid(child, &status, 0);
        is_complete = WIFEXITED(status) && WEXITSTATUS(status) == 77;
        if (!is_complete && WIFSIGNALED(status)) tell("signal " + std::to_string(WTERMSIG(status)) + "\n");
        if (!is_complete && WIFEXITED(status)) tell("exit " + std::to_string(WEXITSTATUS(status)) + "\n");
    }
}

template <class Type>
Type argument(std::string_view name, bool is_bad, unsigned which) {
    if constexpr (std::is_pointer_v<Type>) {
        if (is_bad) return reinterpret_cast<Type>(bad_pointer(which));
    }
    return good<Type>(name);
}

template <class Result, class... Parameters, size_t... at>
void call_with_bad_pointers(const char* symbol, const char* names, Result (*)(Parameters...),
                            std::index_sequence<at...>) {
    const auto function = reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_DEFAULT, symbol));
    if (function == nullptr) return;
    const std::vector<std::string> words = words_of(names);
    const std::vector<bool> is_pointer{std::is_pointer_v<Parameters>...};
    in_own_process(symbol, [&](auto try_it) {
        for (size_t bad = 0; bad < is_pointer.size(); ++bad) {
            for (unsigned which = 0; is_pointer[bad] && which < bad_count; ++which) {
                try_it(words[bad] + " " + bad_names[which],
                       [&] { return function(argument<Parameters>(words[at], at == bad, which)...); });
            }
        }
    });
}

template <class Result, class... Parameters>
void call_with_bad_pointers(const char* symbol, const char* names, Result (*type)(Parameters...)) {
    call_with_bad_pointers(symbol, names, type, std::index_sequence_for<Parameters...>());
}

void call_functions_of_table() {
#define FUNCTION(id, name, level, kind, argument)
#define WRITTEN(symbol, id)
#define SYMBOL(symbol, id, shape, operation, result, parameters, names) \
    call_with_bad_pointers(#symbol, #names, static_cast<result(*) parameters>(nullptr));
#include "calls/record/table.def"
}

/// Functions that look at a pointer, or not, by their other arguments.
void call_with_other_arguments() {
    for (unsigned which = 0; which < bad_count; ++which) {
        const std::string bad = bad_names[which];
        in_own_process("nothing to do", [&](auto try_it) {
            char room[16] = "";
            size_t bytes = 0;
            auto* stream = static_cast<FILE*>(bad_pointer(which));
            try_it("fread " + bad, [&] { return fread(room, 0, 1, stream); });
            try_it("fwrite " + bad, [&] { return fwrite(room, 1, 0, stream); });
            try_it("fgets " + bad, [&] { return fgets(room, 0, stream); });
            try_it("fgets of one " + bad, [&] { return fgets(room, 1, stream); });
            try_it("getline " + bad, [&] { return getline(nullptr, &bytes, stream); });
        });
        in_own_process("sizes", [&](auto try_it) {
            const int fd = scratch_file();
            auto* pieces = static_cast<iovec*>(bad_pointer(which));
            for (const int count : {-1, 0, 1024, 1025, INT32_MAX})
                try_it("writev " + std::to_string(count) + " " + bad, [&] { return writev(fd, pieces, count); });
            try_it("writev to nothing " + bad, [&] { return writev(-1, pieces, 1); });
        });
        in_own_process("fcntl", [&](auto try_it) {
            const int fd = scratch_file();
            for (const int command : {F_SETLK, F_SETLKW, F_GETLK, F_OFD_SETLK})
                try_it(std::to_string(command) + " " + bad, [&] { return fcntl(fd, command, bad_pointer(which)); });
        });
        in_own_process("at a descriptor", [&](auto try_it) {
            const int fd = open(directory, O_RDONLY | O_DIRECTORY);
            auto* path = static_cast<char*>(bad_pointer(which));
            try_it("openat " + bad, [&] { return openat(fd, path, O_RDONLY); });
            try_it("unlinkat " + bad, [&] { return unlinkat(fd, path, 0); });
            try_it("renameat " + bad, [&] { return renameat(fd, path, fd, path); });
            struct stat found {};
            try_it("fstatat " + bad, [&] { return fstatat(fd, path, &found, AT_EMPTY_PATH); });
        });
        in_own_process("chroot", [&](auto try_it) {
            try_it(bad, [&] { return chroot(static_cast<char*>(bad_pointer(which))); });
        });
    }
}

/// openat2, which the C library may not have: the interposed one, or the system call.
int openat2_of_process(const char* path, const void* how, size_t bytes) {
    using function = int (*)(int, const char*, const void*, size_t);
    if (const auto found = reinterpret_cast<function>(dlsym(RTLD_DEFAULT, "openat2")))
        return found(AT_FDCWD, path, how, bytes);
    return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path, how, bytes));
}

void call_system_calls() {
    for (unsigned which = 0; which < bad_count; ++which) {
        const std::string bad = bad_names[which];
        in_own_process("openat2", [&](auto try_it) {
            const uint64_t how[3] = {};
            const std::string path = scratch_path();
            try_it("path " + bad,
                   [&] { return openat2_of_process(static_cast<char*>(bad_pointer(which)), how, sizeof how); });
            for (const size_t bytes : {size_t{0}, size_t{8}, sizeof how, 2 * page})
                try_it("how of " + std::to_string(bytes) + " " + bad,
                       [&] { return openat2_of_process(path.c_str(), bad_pointer(which), bytes); });
        });
        in_own_process("clone3", [&](auto try_it) {
            for (const size_t bytes : {size_t{0}, size_t{8}, size_t{64}, sizeof(clone_args), 2 * page})
                try_it("of " + std::to_string(bytes) + " " + bad,
                       [&] { return syscall(SYS_clone3, bad_pointer(which), bytes); });
        });
        in_own_process("execve by its number", [&](auto try_it) {
            const char* const arguments[] = {"/bin/true", nullptr};
            try_it("path " + bad, [&] { return syscall(SYS_execve, bad_pointer(which), arguments, environ); });
            try_it("arguments " + bad, [&] { return syscall(SYS_execve, "/bin/true", bad_pointer(which), environ); });
            try_it("environment " + bad,
                   [&] { return syscall(SYS_execve, "/bin/true", arguments, bad_pointer(which)); });
            try_it("environment of execveat " + bad,
                   [&] { return syscall(SYS_execveat, AT_FDCWD, "/bin/true", arguments, bad_pointer(which), 0); });
        });
        in_own_process("open by its number", [&](auto try_it) {
            try_it(bad, [&] { return syscall(SYS_openat, AT_FDCWD, bad_pointer(which), O_RDONLY); });
        });
    }
}

void start_programs() {
    char program[] = "/bin/true";
    char* const arguments[] = {program, nullptr};
    using list = char* const*;
    for (unsigned which = 0; which < bad_count; ++which) {
        const std::string bad = bad_names[which];
        const auto path = [=] { return static_cast<char*>(bad_pointer(which)); };
        const auto pointers = [=] { return static_cast<list>(bad_pointer(which)); };
        // A list that can be read, of a text that cannot.
        const auto texts = [=] { return new char* const [2] { path(), nullptr }; };
        in_own_process("exec", [&](auto try_it) {
            try_it("execv " + bad, [&] { return execv(path(), arguments); });
            try_it("execl " + bad, [&] { return execl(path(), program, nullptr); });
            try_it("execvp " + bad, [&] { return execvp(path(), arguments); });
            try_it("execve path " + bad, [&] { return execve(path(), arguments, environ); });
            try_it("execve arguments " + bad, [&] { return execve(program, pointers(), environ); });
            try_it("execve environment " + bad, [&] { return execve(program, arguments, pointers()); });
            try_it("execve text of environment " + bad, [&] { return execve(program, arguments, texts()); });
            try_it("execveat path " + bad, [&] { return execveat(AT_FDCWD, path(), arguments, environ, 0); });
            try_it("execveat environment " + bad,
                   [&] { return execveat(AT_FDCWD, program, arguments, pointers(), 0); });
            const int fd = open(program, O_RDONLY | O_CLOEXEC);
            try_it("fexecve environment " + bad, [&] { return fexecve(fd, arguments, pointers()); });
        });
        in_own_process("posix_spawn", [&](auto try_it) {
            try_it("path " + bad, [&] { return posix_spawn(nullptr, path(), nullptr, nullptr, arguments, environ); });
            try_it("arguments " + bad,
                   [&] { return posix_spawn(nullptr, program, nullptr, nullptr, pointers(), environ); });
            try_it("environment " + bad,
                   [&] { return posix_spawn(nullptr, program, nullptr, nullptr, arguments, pointers()); });
            try_it("text of environment " + bad,
                   [&] { return posix_spawn(nullptr, program, nullptr, nullptr, arguments, texts()); });
            try_it("searched " + bad,
                   [&] { return posix_spawnp(nullptr, path(), nullptr, nullptr, arguments, environ); });
        });
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    directory = words[1];
    void* at = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 2;
    shared = new (at) progress{};
    const int out = dup(1);
    // Standard streams are files, too: their transfers are looked at.
    for (const int standard : {0, 1, 2}) dup2(scratch_file(), standard);
    call_functions_of_table();
    call_with_other_arguments();
    call_system_calls();
    start_programs();
    return write(out, shared->text, shared->told) == static_cast<ssize_t>(shared->told) ? 0 : 1;
}
