#pragma once

#include <wchar.h>

#include "calls/wrappers/posix/opening_shapes.hpp"
#include "calls/wrappers/stdio/stream.hpp"

/// Shapes of stdio functions: what they put into a stream's buffer or take out of it, and what was moved then.
namespace halcyon::calls::shapes {

/// In a static program, the C library's own calls of the functions that its headers put in place of others (__uflow in
/// that of getc_unlocked) come to their wrappers, too. What such a call moves, the call that made it tells.
inline bool made_by_c_library() {
#ifdef HALCYON_STATIC_IO
    const thread_state& thread = this_thread();
    if (thread.current == 0) return false;
    return entry_of(static_cast<uint16_t>(thread.function)).at == level::stdio ||
           thread.function == static_cast<uint32_t>(call_id::dprintf);
#else
    return false;
#endif
}

/// The shape of such a function.
template <class Shape>
struct inlined : Shape {
    template <class... Parameters>
    bool before(call_record& record, const Parameters&... parameters) {
        return !made_by_c_library() && Shape::before(record, parameters...);
    }
};

/// Of a call that is to move nothing, or that other arguments make fail, the C library does not look at the stream.
inline bool can_be_looked_at(const FILE* stream) {
    return given::is_readable(stream, sizeof *stream);
}

/// O_* flags of an fopen mode; none of one that cannot be read, or is too long to be one.
inline int flags_of_mode(const char* mode) {
    constexpr size_t longest = 32;
    const size_t length = given::length_of_text(mode, longest);
    if (length == 0 || length >= longest) return 0;
    const bool both = std::strchr(mode, '+') != nullptr;
    if (*mode == 'r') return both ? O_RDWR : O_RDONLY;
    return (both ? O_RDWR : O_WRONLY) | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
}

struct open_stream : open_path {
    static void after(call_record& record, FILE* stream, const char* path, const char* mode) {
        after_open(record, stream == nullptr ? -1 : stream->_fileno, flags_of_mode(mode), AT_FDCWD, path);
    }
};

struct open_temporary_stream : open_path {
    static void after(call_record& record, FILE* stream) {
        after_open(record, stream == nullptr ? -1 : stream->_fileno, O_RDWR | O_CREAT | O_EXCL, AT_FDCWD, nullptr);
    }
};

/// fdopen: mode a makes the descriptor append.
struct open_stream_on_descriptor : on_descriptor {
    static void after(call_record&, FILE* stream, int fd, const char* mode) {
        if (stream == nullptr || *mode != 'a') return;
        if (open_file* file = descriptors::find(fd)) file->appends.store(true);
    }
};

struct reopen_stream : open_path {
    stream_transfer closed;
    bool before(call_record& record, const char*, const char*, FILE* stream) {
        call_record of_old_file = record;
        if (closed.before(of_old_file, stream, false)) closed.flush(of_old_file);
        if (stream != nullptr && is_of_file(stream)) descriptors::closing(stream->_fileno);
        return true;
    }
    void after(call_record& record, FILE* stream, const char* path, const char* mode, FILE*) {
        after_open(record, stream == nullptr ? -1 : stream->_fileno, flags_of_mode(mode), AT_FDCWD, path);
    }
};

struct close_stream {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.flushing_moves(); }
    bool before(call_record& record, FILE* stream) {
        const bool wanted = transfer.before(record, stream, false);
        if (wanted) transfer.flush_wide(record);
        if (stream != nullptr && is_of_file(stream)) descriptors::closing(stream->_fileno);
        return wanted;
    }
    void after(call_record& record, int result, FILE*) { transfer.after_close(record, result == 0); }
};

/// Writes all that waits in any stream, through the stream's own flush, so that each file's share is seen.
void flush_streams(call_id because_of);

/// Writes what waits in one stream, as a call of fflush.
void flush_stream(FILE* stream);

/// At the end of the process: standard output and error write at once what comes later.
void stop_buffering();

struct flush_all_streams : nothing_after {
    static bool before(call_record& record) {
        flush_streams(static_cast<call_id>(record.function));
        return true;
    }
};

struct read_items {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record& record) const { return transfer.taking_moves(record.bytes); }
    bool before(call_record& record, const void*, size_t size, size_t count, FILE* stream) {
        record.bytes = static_cast<int64_t>(size * count);
        if (record.bytes == 0 && !can_be_looked_at(stream)) return false;
        return transfer.before_known_read(record, stream, record.bytes);
    }
    void after(call_record& record, size_t result, const void*, size_t size, size_t count, FILE*) {
        record.error = 0;  // a short count is the end of the file more often than an error
        // At the end of the file, part of an item may have been taken.
        transfer.after(record, 0, result == count ? static_cast<int64_t>(size * count) : stream_transfer::not_known);
    }
};

struct read_items_checked : read_items {
    bool before(call_record& record, const void* data, size_t, size_t size, size_t count, FILE* stream) {
        return read_items::before(record, data, size, count, stream);
    }
    void after(call_record& record, size_t result, const void* data, size_t, size_t size, size_t count, FILE* stream) {
        read_items::after(record, result, data, size, count, stream);
    }
};

struct read_line {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    bool before(call_record& record, const char*, int bytes, FILE* stream) {
        record.bytes = bytes;
        if (bytes <= 1 && !can_be_looked_at(stream)) return false;
        return transfer.before_line_read(record, stream);
    }
    void after(call_record& record, const char*, const char*, int, FILE*) {
        record.error = 0;
        transfer.after(record, 0, stream_transfer::not_known);
    }
};

struct read_line_checked : read_line {
    bool before(call_record& record, const char* line, size_t, int bytes, FILE* stream) {
        return read_line::before(record, line, bytes, stream);
    }
    void after(call_record& record, const char* result, const char*, size_t, int, FILE*) {
        read_line::after(record, result, nullptr, 0, nullptr);
    }
};

/// gets, which does not know how much room there is.
struct read_standard_line {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    template <class... Rest>
    bool before(call_record& record, const char*, const Rest&...) {
        return transfer.before_line_read(record, stdin);
    }
    template <class... Rest>
    void after(call_record& record, const char*, const char*, const Rest&...) {
        record.error = 0;
        transfer.after(record, 0, stream_transfer::not_known);
    }
};

struct read_grown_line {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    bool before(call_record& record, char** line, const size_t* room, FILE* stream) {
        if ((line == nullptr || room == nullptr) && !can_be_looked_at(stream)) return false;
        return transfer.before_line_read(record, stream);
    }
    void after(call_record& record, ssize_t result, char**, size_t*, FILE*) {
        record.error = 0;
        transfer.after(record, 0, result > 0 ? result : stream_transfer::not_known);
    }
};

struct read_delimited : read_grown_line {
    bool before(call_record& record, char** line, size_t* room, int, FILE* stream) {
        return read_grown_line::before(record, line, room, stream);
    }
    void after(call_record& record, ssize_t result, char** line, size_t* room, int, FILE* stream) {
        read_grown_line::after(record, result, line, room, stream);
    }
};

/// Single characters are told only when they cause a transfer: there may be as many as there are bytes, and each costs
/// less than looking at it.
struct read_character {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    bool before(call_record& record, FILE* stream) {
        if (stream == nullptr || stream->_IO_read_ptr < stream->_IO_read_end) return false;
        record.bytes = 1;
        return transfer.before_unknown_read(record, stream);
    }
    void after(call_record& record, int, FILE*) {
        record.error = 0;
        transfer.after(record, 0, stream_transfer::not_known);
    }
};

struct read_standard_character : read_character {
    bool before(call_record& record) { return read_character::before(record, stdin); }
    void after(call_record& record, int result) { read_character::after(record, result, stdin); }
};

/// getw, which takes one integer.
struct read_word {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    bool before(call_record& record, FILE* stream) {
        record.bytes = sizeof(int);
        return transfer.before_unknown_read(record, stream);
    }
    void after(call_record& record, int, FILE*) {
        record.error = 0;
        transfer.after(record, 0, stream_transfer::not_known);
    }
};

struct read_wide {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    bool before(call_record& record, FILE* stream) { return transfer.before_unknown_read(record, stream); }
    void after(call_record& record, wint_t, FILE*) {
        record.error = 0;
        transfer.after(record, 0, stream_transfer::not_known);
    }
};

struct read_wide_line : read_wide {
    bool before(call_record& record, const wchar_t*, int count, FILE* stream) {
        return (count > 1 || can_be_looked_at(stream)) && read_wide::before(record, stream);
    }
    void after(call_record& record, const wchar_t*, const wchar_t*, int, FILE* stream) {
        read_wide::after(record, 0, stream);
    }
};

struct read_wide_line_checked : read_wide {
    bool before(call_record& record, const wchar_t*, size_t, int count, FILE* stream) {
        return (count > 1 || can_be_looked_at(stream)) && read_wide::before(record, stream);
    }
    void after(call_record& record, const wchar_t*, const wchar_t*, size_t, int, FILE* stream) {
        read_wide::after(record, 0, stream);
    }
};

struct read_standard_wide : read_wide {
    bool before(call_record& record) { return read_wide::before(record, stdin); }
    void after(call_record& record, wint_t result) { read_wide::after(record, result, stdin); }
};

/// A call that puts a known number of bytes into a stream.
struct write_known {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record& record) const { return transfer.putting_moves(record.bytes); }
    bool look(call_record& record, size_t bytes, FILE* stream) {
        record.bytes = static_cast<int64_t>(bytes);
        return transfer.before(record, stream);
    }
    void moved(call_record& record, bool whole) {
        if (whole) record.error = 0;
        transfer.after(record, whole ? record.bytes : stream_transfer::not_known, 0);
    }
};

struct write_items : write_known {
    bool before(call_record& record, const void*, size_t size, size_t count, FILE* stream) {
        return (size * count > 0 || can_be_looked_at(stream)) && look(record, size * count, stream);
    }
    void after(call_record& record, size_t result, const void*, size_t, size_t count, FILE*) {
        moved(record, result == count);
    }
};

struct write_text : write_known {
    bool before(call_record& record, const char* text, FILE* stream) { return look(record, std::strlen(text), stream); }
    void after(call_record& record, int result, const char*, FILE*) { moved(record, result != EOF); }
};

struct write_standard_line : write_known {
    bool before(call_record& record, const char* text) { return look(record, std::strlen(text) + 1, stdout); }
    void after(call_record& record, int result, const char*) { moved(record, result != EOF); }
};

struct write_character : write_known {
    bool before(call_record& record, int, FILE* stream) {
        // Room in the buffer, and not line by line: nothing will be moved.
        if (stream == nullptr || stream->_IO_write_ptr < stream->_IO_write_end) return false;
        return look(record, 1, stream);
    }
    void after(call_record& record, int result, int, FILE*) { moved(record, result != EOF); }
};

struct write_word : write_known {
    bool before(call_record& record, int, FILE* stream) { return look(record, sizeof(int), stream); }
    void after(call_record& record, int result, int, FILE*) { moved(record, result == 0); }
};

struct write_standard_character : write_character {
    bool before(call_record& record, int character) { return write_character::before(record, character, stdout); }
    void after(call_record& record, int result, int) { moved(record, result != EOF); }
};

/// How many bytes wide characters become is the C library's business.
struct write_wide_character {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.putting_moves(); }
    bool before(call_record& record, wchar_t, FILE* stream) { return transfer.before_uncounted(record, stream); }
    void after(call_record& record, wint_t, wchar_t, FILE*) { transfer.after(record, stream_transfer::not_known, 0); }
};

struct write_standard_wide : write_wide_character {
    bool before(call_record& record, wchar_t character) {
        return write_wide_character::before(record, character, stdout);
    }
    void after(call_record& record, wint_t result, wchar_t character) {
        write_wide_character::after(record, result, character, stdout);
    }
};

struct write_wide_overflow : write_wide_character {
    bool before(call_record& record, FILE* stream, wint_t) { return write_wide_character::before(record, 0, stream); }
    void after(call_record& record, wint_t result, FILE* stream, wint_t) {
        write_wide_character::after(record, result, 0, stream);
    }
};

struct write_wide_text {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.putting_moves(); }
    bool before(call_record& record, const wchar_t*, FILE* stream) { return transfer.before_uncounted(record, stream); }
    void after(call_record& record, int, const wchar_t*, FILE*) {
        transfer.after(record, stream_transfer::not_known, 0);
    }
};

/// perror and its like, which may write through a stream of their own on the same descriptor, or past streams.
struct write_standard_error {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.putting_moves(); }
    template <class... Rest>
    bool before(call_record& record, const Rest&...) {
        return transfer.before_uncounted(record, stderr);
    }
    template <class... Rest>
    void after(call_record& record, const Rest&...) {
        transfer.after(record, stream_transfer::not_known, 0);
    }
};

/// A call that writes to a stream, and does not tell how much.
struct write_uncounted {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.putting_moves(); }
    bool before(call_record& record, FILE* stream) { return transfer.before_uncounted(record, stream); }
    void after(call_record& record, int, FILE*) { transfer.after(record, stream_transfer::not_known, 0); }
};

/// putpwent and its like: an entry, as a line of a stream.
struct write_entry : write_uncounted {
    bool before(call_record& record, const void*, FILE* stream) {
        return can_be_looked_at(stream) && write_uncounted::before(record, stream);
    }
    void after(call_record& record, int result, const void*, FILE* stream) {
        write_uncounted::after(record, result, stream);
    }
};

/// printf and its like, after their arguments became a va_list: the result is the number of bytes.
struct write_formatted : write_known {
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.putting_moves(); }
    bool before(call_record& record, FILE* stream) { return look(record, 0, stream); }
    void after(call_record& record, int result, FILE*) {
        record.bytes = result < 0 ? none : result;
        moved(record, result >= 0);
    }
};

/// Where nothing waits to be written, a seek may read the block that it goes to.
inline expected seeking_moves(const stream_transfer& transfer) {
    return transfer.flushing_moves() == expected::yes ? expected::yes : expected::not_known;
}

struct seek_stream {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return seeking_moves(transfer); }
    template <class... Rest>
    bool before(call_record& record, FILE* stream, const Rest&...) {
        if (!transfer.before(record, stream)) return false;
        transfer.flush_wide(record);
        return true;
    }
    template <class... Rest>
    void after(call_record& record, int, FILE*, const Rest&...) {
        transfer.after_seek(record);
    }
};

/// Gives a stream another buffer, after what is in the one before was written, or given back to the file.
struct set_buffer : seek_stream {
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.flushing_moves(); }
    template <class... Rest>
    void after(call_record& record, const Rest&...) {
        transfer.after_flush(record);
    }
};

using inlined_read_character = inlined<read_character>;
using inlined_read_delimited = inlined<read_delimited>;
using inlined_read_wide = inlined<read_wide>;
using inlined_write_wide_overflow = inlined<write_wide_overflow>;

}  // namespace halcyon::calls::shapes
