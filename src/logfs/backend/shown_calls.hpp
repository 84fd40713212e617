#pragma once

#include <sys/uio.h>

#include <cstdint>

#include "calls/backends/report_below.hpp"
#include "calls/state/known_files.hpp"

/// System calls of the backend, shown to layers that want to see them (report_below); where none does, a call costs one
/// comparison more. `make()` makes it, and returns -errno where it fails.
namespace halcyon::logfs::shown {

using calls::call_id;
using calls::none;

/// What a call asks for besides its file.
struct details {
    int64_t offset = none;
    int64_t bytes = none;
    int64_t argument = 0;
};

/// What a descriptor stands for.
uint32_t file_of(int fd);

/// Of what is open.
template <class Make>
int64_t on(call_id function, int fd, Make make, details about = {}) {
    if (!calls::is_shown_below()) [[likely]]
        return make();
    return calls::report_below({function, file_of(fd), about.offset, about.bytes, about.argument}, make);
}

/// Of what has a name, relative to a directory.
template <class Make>
int64_t named(call_id function, int directory, const char* name, Make make, int64_t argument = 0) {
    if (!calls::is_shown_below()) [[likely]]
        return make();
    return calls::report_below({function, calls::known_files::of_path(directory, name), none, none, argument}, make);
}

/// Of a name that becomes another one.
template <class Make>
int64_t renamed(call_id function, int directory, const char* name, int to_directory, const char* to, Make make) {
    if (!calls::is_shown_below()) [[likely]]
        return make();
    return named(function, directory, name, make, calls::known_files::of_path(to_directory, to));
}

/// Of what is opened by a name: the record has the file that the name leads to.
template <class Make>
int64_t opened(int directory, const char* name, int flags, Make make) {
    if (!calls::is_shown_below()) [[likely]]
        return make();
    const uint32_t file = calls::known_files::of_path(directory, name);
    return calls::report_below({call_id::log_open, file, none, none, flags}, make, [=](calls::call_record& record) {
        if (record.error != 0) return;
        const auto fd = static_cast<int>(record.result);
        const uint32_t found = calls::known_files::of_descriptor(fd, directory, name);
        if (found != calls::known_files::unknown) record.file = found;
    });
}

int close(int fd);

inline int64_t bytes_of(const iovec* parts, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<int64_t>(parts[i].iov_len);
    return sum;
}

}  // namespace halcyon::logfs::shown
