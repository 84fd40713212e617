// Messages that the C library writes past standard error's stream, where descriptor 2, or the one of that stream,
// stands for a backend's file.
#include <netdb.h>
#include <unistd.h>

#include <cstring>

#include "calls/state/own_thread.hpp"
#include "calls/wrappers/stdio/backend_streams.hpp"
#include "calls/wrappers/stdio/complete_message.hpp"
#include "calls/wrappers/stdio/stream_slots.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls::backend_streams {
namespace {

/// In one write, so that it stays whole. False where it fails.
bool write_formatted(const backends::owned_file& file, int fd, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const complete_message message(format, values);
    va_end(values);
    const int bytes = message.length();
    return message.is_whole() && stream_slots::write(file, fd, message.text(), static_cast<size_t>(bytes)) == bytes;
}

/// `text: what`, as a line; without a text only the latter.
bool write_line(const backends::owned_file& file, int fd, const char* text, const char* what) {
    const bool has_text = text != nullptr && *text != '\0';
    return write_formatted(file, fd, "%s%s%s\n", has_text ? text : "", has_text ? ": " : "", what);
}

struct asked_message {
    void (*make)(const void* signal, const char* text);
    const void* signal;
    const char* text;
    int memory;
};

// In a child that has this process's memory, but descriptors of its own: there, 2 becomes what the message is kept in.
// Unlike what start_child() asks for, it calls the C library: in place of the thread that stands still meanwhile, once,
// and that leaves nothing behind.
void make_message(void* opaque) {
    const auto& asked = *static_cast<asked_message*>(opaque);
    if (direct::call(SYS_dup3, asked.memory, STDERR_FILENO, 0) < 0) return;
    asked.make(asked.signal, asked.text);
}

}  // namespace

void tell_error(const backends::owned_file& file, const char* text) {
    char room[1024];
    const char* const what = strerror_r(errno, room, sizeof room);
    if (!write_line(file, stderr->_fileno, text, what)) stderr->_flags |= stream_slots::error_seen;
}

void tell_host_error(const backends::owned_file& file, const char* text) {
    write_line(file, STDERR_FILENO, text, hstrerror(h_errno));
}

void tell_signal(const backends::owned_file& file, const void* signal, const char* text) {
    const auto memory = static_cast<int>(direct::call(SYS_memfd_create, direct::address("halcyon-message"), 0));
    if (memory < 0) return;
    asked_message asked{HALCYON_REAL(psiginfo, void, (const void*, const char*)), signal, text, memory};
    const int error = errno;
    run_in_child(make_message, &asked);
    errno = error;
    char line[1024];  // the C library makes at most 512 bytes
    const long bytes = direct::call(SYS_pread64, memory, direct::address(line), sizeof line, 0);
    direct::close(memory);
    if (bytes > 0) stream_slots::write(file, STDERR_FILENO, line, static_cast<size_t>(bytes));
}

}  // namespace halcyon::calls::backend_streams
