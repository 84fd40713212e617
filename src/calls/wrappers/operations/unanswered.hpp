#pragma once

#include <stdio.h>

#include "calls/state/standard_error.hpp"
#include "calls/wrappers/operations/operation.hpp"

/// As operation.hpp: what no backend answers, and says so.
namespace halcyon::calls::operations {

// --- what no backend answers ---

/// A request that the C library's threads would make, past us.
struct refuse_request {
    template <class Request>
    static bool claims(const Request* request) {
        return given::is_readable(request, sizeof *request) && backends::owner_of(request->aio_fildes);
    }
    template <class Request>
    static int64_t perform(const Request*) {
        return -ENOSYS;
    }
    template <class Request>
    static bool claims(int, const Request* request) {
        return claims(request);
    }
    template <class Request>
    static int64_t perform(int, const Request*) {
        return -ENOSYS;
    }
};

inline void say_no_streams(const char* backend, const char* path) {
    char line[PATH_MAX + 160];
    const int length =
        snprintf(line, sizeof line,
                 "halcyon: a stream (fopen, fdopen, freopen) on %s was refused: files of the backend '%s' have none\n",
                 path, backend);
    standard_error::say(line, length < static_cast<int>(sizeof line) ? length : static_cast<int>(sizeof line) - 1);
}

/// Streams (FILE) read and write inside the C library, where nobody sees it. Here is the place of what will answer
/// them; until then none is opened on a backend's file.
struct refuse_stream {
    mounted_path file;
    bool claims(const char* name, const char*) { return file.find(AT_FDCWD, name); }
    bool claims(const char* name, const char*, const FILE*) { return file.find(AT_FDCWD, name); }
    template <class... Rest>
    FILE* perform(Rest...) {
        say_no_streams(file.backend().name(), file.whole());
        errno = EOPNOTSUPP;
        return nullptr;
    }
};
struct refuse_stream_on_descriptor {
    owned_file file;
    bool claims(int fd, const char*) { return static_cast<bool>(file = backends::owner_of(fd)); }
    FILE* perform(int fd, const char*) {
        char whole[2 * PATH_MAX];
        const size_t length = backends::path_of(fd, whole, sizeof whole);
        say_no_streams(file.backend().name(), length > 0 ? whole : "a file");
        errno = EOPNOTSUPP;
        return nullptr;
    }
};

}  // namespace halcyon::calls::operations
