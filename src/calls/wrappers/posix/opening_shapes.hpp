#pragma once

#include <dirent.h>

#include "calls/wrappers/posix/name_shapes.hpp"

/// As name_shapes.hpp: functions that open, duplicate and close descriptors and directories.
namespace halcyon::calls::shapes {

// --- opening: the file is named once it is open, by the kernel; a failed call names it by its argument ---

inline void after_open(call_record& record, int fd, int flags, int directory, const char* path) {
    if (fd >= 0) {
        const open_file* opened = descriptors::opened(fd, flags, directory, path);
        record.file = opened == nullptr ? known_files::ignored : opened->file.load(std::memory_order_relaxed);
    } else {
        record.file = known_files::of_path(directory, path);
    }
    record.argument = flags;
}

struct open_path {
    template <class... Rest>
    static bool before(call_record&, const Rest&...) {
        return true;
    }
    template <class... Rest>
    static void after(call_record& record, int fd, const char* path, int flags, const Rest&...) {
        after_open(record, fd, flags, AT_FDCWD, path);
    }
};

struct open_at : open_path {
    template <class... Rest>
    static void after(call_record& record, int fd, int directory, const char* path, int flags, const Rest&...) {
        after_open(record, fd, flags, directory, path);
    }
};

struct create_path : open_path {
    static void after(call_record& record, int fd, const char* path, unsigned) {
        after_open(record, fd, O_CREAT | O_WRONLY | O_TRUNC, AT_FDCWD, path);
    }
};

struct open_temporary : open_path {
    static void after(call_record& record, int fd, const char* name, int flags = 0) {
        after_open(record, fd, O_CREAT | O_RDWR | O_EXCL | flags, AT_FDCWD, name);
    }
};

struct open_temporary_suffix : open_path {
    static void after(call_record& record, int fd, const char* name, int, int flags = 0) {
        after_open(record, fd, O_CREAT | O_RDWR | O_EXCL | flags, AT_FDCWD, name);
    }
};

struct open_handle : open_path {
    static void after(call_record& record, int fd, int, void*, int flags) {
        after_open(record, fd, flags, AT_FDCWD, nullptr);
    }
};

struct close_one : nothing_after {
    static bool before(call_record& record, int fd) {
        const bool wanted = set_file(record, fd);
        descriptors::closing(fd);
        return wanted;
    }
};

struct duplicate : on_descriptor {
    static bool before(call_record& record, int fd) {
        // Also of a socket: the new number must not be taken for what it was before.
        if (!set_file(record, fd)) record.file = known_files::ignored;
        return true;
    }
    static void after(call_record&, int to, int fd) {
        if (to >= 0) descriptors::duplicated(fd, to);
    }
};

struct duplicate_to : duplicate {
    template <class... Rest>
    static bool before(call_record& record, int fd, int to, const Rest&...) {
        record.argument = to;
        return duplicate::before(record, fd);
    }
    template <class... Rest>
    static void after(call_record&, int result, int fd, int to, const Rest&...) {
        if (result >= 0) descriptors::duplicated(fd, to);
    }
};

// --- directories ---

struct change_directory : nothing_after {
    static bool before(call_record& record, const char* path) { return set_path(record, AT_FDCWD, path); }
    static void after(call_record&, int, const char*) { known_files::forget_directory(); }
};

struct change_directory_to : on_descriptor {
    static void after(call_record&, int, int) { known_files::forget_directory(); }
};

struct open_directory {
    static bool before(call_record& record, const char* path) { return set_path(record, AT_FDCWD, path); }
    static void after(call_record&, DIR* opened, const char* path) {
        if (opened != nullptr) descriptors::opened(dirfd(opened), O_RDONLY | O_DIRECTORY, AT_FDCWD, path);
    }
};

struct on_directory {
    template <class... Rest>
    static bool before(call_record& record, DIR* directory, const Rest&...) {
        return directory == nullptr || set_file(record, dirfd(directory));
    }
    template <class... Rest>
    static void after(call_record& record, const Rest&...) {
        record.error = 0;  // readdir's null is the end, and errno what it was before
    }
};

struct close_directory : nothing_after {
    static bool before(call_record& record, DIR* directory) {
        const bool wanted = on_directory::before(record, directory);
        if (directory != nullptr) descriptors::closing(dirfd(directory));
        return wanted;
    }
};

struct make_temporary_directory {
    static bool before(call_record&, const char*) { return true; }
    static void after(call_record& record, const char*, const char* name) {
        record.file = known_files::of_path(AT_FDCWD, name);
    }
};

}  // namespace halcyon::calls::shapes
