#pragma once

#include <cerrno>
#include <climits>
#include <type_traits>

#include "calls/backends/backend_files.hpp"
#include "calls/backends/mounted_path.hpp"
#include "calls/record/interception.hpp"
#include "calls/state/given_memory.hpp"

/// How the symbols of table.def become the operations of a backend; the table says which symbol is which operation.
///
/// An operation is made for one call. `claims(arguments…)` says whether a backend answers it; then
/// `perform(arguments…)` does, in place of the function: an int64_t that is -errno where it fails, or the function's
/// own result. `kernel`: none ever does. `is_kernels_now()`, if it has that: where it fails with EBUSY, the function
/// may have to be called after all.
namespace halcyon::calls::operations {

using backends::mounted_path;
using backends::owned_file;

using kernel = by_kernel;

// --- what an operation is asked of: its first arguments ---

/// A descriptor; `Answer::of(file, fd, the rest…)`.
template <class Answer>
struct descriptor {
    owned_file file;
    template <class... Rest>
    bool claims(int fd, const Rest&...) {
        return static_cast<bool>(file = backends::owner_of(fd));
    }
    template <class... Rest>
    auto perform(int fd, Rest... rest) {
        return Answer::of(file, fd, rest...);
    }
};

/// The C library's own version number, and then as `Base`.
template <class Base>
struct after_version : Base {
    template <class... Rest>
    bool claims(int, const Rest&... rest) {
        return Base::claims(rest...);
    }
    template <class... Rest>
    auto perform(int, Rest... rest) {
        return Base::perform(rest...);
    }
};

/// A path; `Answer::at(backend, path, the rest…)`.
template <class Answer>
struct path {
    mounted_path file;
    template <class... Rest>
    bool claims(const char* name, const Rest&...) {
        return file.find(AT_FDCWD, name);
    }
    template <class... Rest>
    auto perform(const char*, Rest... rest) {
        return Answer::at(file.backend(), file.path(), rest...);
    }
    [[nodiscard]] bool is_kernels_now() const { return file.is_kernels_now(); }
};

/// A path from a directory. An empty one stands for the descriptor itself (AT_EMPTY_PATH).
template <class Answer>
struct path_from {
    mounted_path file;
    template <class... Rest>
    bool claims(int directory, const char* name, const Rest&...) {
        if (directory < 0 || name == nullptr || given::length_of_text(name, 1) != 0) return file.find(directory, name);
        return file.find_opened(directory);
    }
    template <class... Rest>
    auto perform(int, const char*, Rest... rest) {
        return Answer::at(file.backend(), file.path(), rest...);
    }
    [[nodiscard]] bool is_kernels_now() const { return file.is_kernels_now(); }
};

/// Two paths, of which at least one is a backend's: only within one backend can anything be done.
template <class Answer>
struct two_paths {
    mounted_path from, to;
    bool from_mounted = false, to_mounted = false;
    template <class... Rest>
    bool claims(const char* name, const char* other, const Rest&...) {
        return both(AT_FDCWD, name, AT_FDCWD, other);
    }
    template <class... Rest>
    int64_t perform(const char*, const char*, Rest... rest) {
        return answer(rest...);
    }

  protected:
    bool both(int directory, const char* name, int to_directory, const char* other) {
        from_mounted = from.find(directory, name);
        to_mounted = to.find(to_directory, other);
        // Where a backend answers for one of two names below its prefix, it answers for both.
        if (from_mounted && !to_mounted) to_mounted = to.lies_in(from.backend());
        if (to_mounted && !from_mounted) from_mounted = from.lies_in(to.backend());
        return from_mounted || to_mounted;
    }
    template <class... Rest>
    int64_t answer(Rest... rest) {
        if (!from_mounted || !to_mounted || &from.backend() != &to.backend()) return -EXDEV;
        return Answer::at(from.backend(), from.path(), to.path(), rest...);
    }
};

template <class Answer>
struct two_paths_from : two_paths<Answer> {
    template <class... Rest>
    bool claims(int directory, const char* name, int to_directory, const char* other, const Rest&...) {
        return this->both(directory, name, to_directory, other);
    }
    template <class... Rest>
    int64_t perform(int, const char*, int, const char*, Rest... rest) {
        return this->answer(rest...);
    }
};

/// Advice, which anyone may ignore.
struct ignores {
    template <class... Rest>
    static int64_t of(const owned_file&, int, Rest...) {
        return 0;
    }
    template <class... Rest>
    static int64_t at(file_backend&, const char*, Rest...) {
        return 0;
    }
};
template <int error>
struct refuses {
    template <class... Rest>
    static int64_t of(const owned_file&, int, Rest...) {
        return -error;
    }
    template <class... Rest>
    static int64_t at(file_backend&, const char*, Rest...) {
        return -error;
    }
};

}  // namespace halcyon::calls::operations
