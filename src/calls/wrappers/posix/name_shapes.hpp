#pragma once

#include "calls/record/interception.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/given_memory.hpp"
#include "calls/state/known_files.hpp"

/// How the arguments and results of POSIX functions fill in a record; table.def says which function has which shape.
/// `before` is given the arguments, `after` the result, too. Further arguments that a shape does not need follow.
///
/// Here: functions that name a file, by a descriptor or a path, and of which no more is told.
namespace halcyon::calls::shapes {

struct nothing_after {
    template <class... Rest>
    static void after(call_record&, const Rest&...) {}
};

struct on_nothing : nothing_after {
    template <class... Rest>
    static bool before(call_record&, const Rest&...) {
        return true;
    }
};

/// Fills in the file of a descriptor; false when nobody wants its calls.
inline bool set_file(call_record& record, int fd) {
    const open_file* file = descriptors::find(fd);
    if (file == nullptr) return false;
    record.file = file->file.load(std::memory_order_relaxed);
    return true;
}

inline bool set_path(call_record& record, int directory, const char* path) {
    record.file = known_files::of_path(directory, path);
    return record.file != known_files::ignored;
}

/// Of functions that return the error instead of setting errno.
inline void set_returned_error(call_record& record, int result) {
    record.error = static_cast<uint16_t>(result);
}

struct on_descriptor : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int fd, const Rest&...) {
        return set_file(record, fd);
    }
};

struct on_descriptor_after_version : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int, int fd, const Rest&...) {
        return set_file(record, fd);
    }
};

struct on_path : nothing_after {
    static bool before(call_record& record, const char* path) { return set_path(record, AT_FDCWD, path); }
    template <class Second, class... Rest>
    static bool before(call_record& record, const char* path, const Second& second, const Rest&...) {
        if constexpr (std::is_integral_v<Second>) record.argument = static_cast<int64_t>(second);  // a mode
        return set_path(record, AT_FDCWD, path);
    }
};

struct on_path_after_version : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int, const char* path, const Rest&...) {
        return set_path(record, AT_FDCWD, path);
    }
};

/// An empty path means the directory's descriptor itself (AT_EMPTY_PATH).
inline bool set_path_or_descriptor(call_record& record, int directory, const char* path) {
    if (directory >= 0 && given::length_of_text(path, 1) == 0) return set_file(record, directory);
    return set_path(record, directory, path);
}

struct on_path_at : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int directory, const char* path, const Rest&...) {
        return set_path_or_descriptor(record, directory, path);
    }
};

struct on_path_at_after_version : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int, int directory, const char* path, const Rest&...) {
        return set_path_or_descriptor(record, directory, path);
    }
};

struct on_two_paths : nothing_after {
    static bool before(call_record& record, const char* path, const char* to) {
        record.argument = known_files::of_path(AT_FDCWD, to);
        return set_path(record, AT_FDCWD, path);
    }
};

struct on_two_paths_at : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int directory, const char* path, int to_directory, const char* to,
                       const Rest&...) {
        record.argument = known_files::of_path(to_directory, to);
        return set_path(record, directory, path);
    }
};

struct on_second_path : nothing_after {
    static bool before(call_record& record, const char*, const char* path) { return set_path(record, AT_FDCWD, path); }
};

struct on_second_path_at : nothing_after {
    static bool before(call_record& record, const char*, int directory, const char* path) {
        return set_path(record, directory, path);
    }
};

}  // namespace halcyon::calls::shapes
