#pragma once

#include <stdio.h>
#include <unistd.h>

#include "calls/wrappers/operations/operation.hpp"
#include "calls/wrappers/stdio/backend_streams.hpp"
#include "calls/wrappers/stdio/stream.hpp"

/// As operation.hpp: what opens streams of the C library, and what that writes past them.
namespace halcyon::calls::operations {

struct open_stream {
    mounted_path file;
    bool claims(const char* name, const char*) { return file.find(AT_FDCWD, name) || file.find_descriptor(name); }
    FILE* perform(const char*, const char* mode) const { return backend_streams::open(file, mode); }
    [[nodiscard]] bool is_kernels_now() const { return file.is_kernels_now(); }
};

struct open_stream_on_descriptor {
    owned_file file;
    bool claims(int fd, const char*) { return static_cast<bool>(file = backends::owner_of(fd)); }
    FILE* perform(int fd, const char* mode) const { return backend_streams::open_on(fd, file, mode); }
};

/// Also where a backend's file gives its place to one of the kernel's.
struct reopen_stream {
    mounted_path file;
    bool is_mounted = false;
    bool claims(const char* name, const char*, const FILE* stream) {
        is_mounted = name != nullptr && (file.find(AT_FDCWD, name) || file.find_descriptor(name));
        return is_mounted || (stream != nullptr && is_of_file(stream) && backends::owner_of(stream->_fileno));
    }
    FILE* perform(const char* name, const char* mode, FILE* stream) const {
        return backend_streams::reopen(stream, is_mounted ? &file : nullptr, name, mode);
    }
};

/// perror leaves a stream as it is that nobody has written to yet: then it writes to a duplicate of its descriptor, if
/// that can be read from, too. Otherwise, it writes to the stream.
struct tell_error {
    owned_file file;
    bool claims(const char*) {
        if (stderr == nullptr || !is_of_file(stderr) || stderr->_mode != 0) return false;
        file = backends::owner_of(stderr->_fileno);
        return file && file.access() == O_RDWR;
    }
    void perform(const char* text) const { backend_streams::tell_error(file, text); }
};

struct tell_host_error {
    owned_file file;
    bool claims(const char*) { return static_cast<bool>(file = backends::owner_of(STDERR_FILENO)); }
    void perform(const char* text) const { backend_streams::tell_host_error(file, text); }
};

struct tell_signal {
    owned_file file;
    bool claims(const void*, const char*) { return static_cast<bool>(file = backends::owner_of(STDERR_FILENO)); }
    void perform(const void* signal, const char* text) const { backend_streams::tell_signal(file, signal, text); }
};

}  // namespace halcyon::calls::operations
