// stdio functions with variable arguments, and those that act on all streams at once.
#include <stdarg.h>

#include "calls/wrappers/stdio/stdio_bound.hpp"
#include "calls/wrappers/stdio/stream_slots.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

struct read_formatted {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.taking_moves(); }
    bool before(call_record& record, FILE* stream) { return transfer.before_unknown_read(record, stream); }
    void after(call_record& record, int, FILE*) {
        record.error = 0;
        transfer.after(record, 0, stream_transfer::not_known);
    }
};

struct flush_shape {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return transfer.flushing_moves(); }
    bool before(call_record& record, FILE* stream) { return transfer.before(record, stream); }
    void after(call_record& record, int, FILE*) { transfer.after_flush(record); }
};

struct rewind_shape {
    stream_transfer transfer;
    [[nodiscard]] expected transfers(const call_record&) const { return shapes::seeking_moves(transfer); }
    bool before(call_record& record, FILE* stream) {
        if (!transfer.before(record, stream)) return false;
        transfer.flush_wide(record);
        return true;
    }
    void after(call_record& record, int, FILE*) { transfer.after_seek(record); }
};

}  // namespace

// --- to and from a stream ---

#define ON_STREAM(shape, id, symbol, real, character)                                                   \
    HALCYON_WRAPPER(symbol, int, (FILE * stream, const character* format, ...));                        \
    int halcyon_wrap_##symbol(FILE* stream, const character* format, ...) {                             \
        va_list values;                                                                                 \
        va_start(values, format);                                                                       \
        const int result = formatted<shape, call_id::id>(stream, [&] {                                  \
            return HALCYON_REAL(real, int, (FILE*, const character*, va_list))(stream, format, values); \
        });                                                                                             \
        va_end(values);                                                                                 \
        return result;                                                                                  \
    }
#define ON_STREAM_V(shape, id, symbol, character)                                                         \
    HALCYON_WRAPPER(symbol, int, (FILE * stream, const character* format, va_list values));               \
    int halcyon_wrap_##symbol(FILE* stream, const character* format, va_list values) {                    \
        return formatted<shape, call_id::id>(stream, [&] {                                                \
            return HALCYON_REAL(symbol, int, (FILE*, const character*, va_list))(stream, format, values); \
        });                                                                                               \
    }

ON_STREAM(shapes::write_formatted, fprintf, fprintf, vfprintf, char)
ON_STREAM(shapes::write_formatted, fprintf, _IO_fprintf, vfprintf, char)
ON_STREAM(read_formatted, fscanf, fscanf, vfscanf, char)
ON_STREAM(read_formatted, fscanf, __isoc99_fscanf, __isoc99_vfscanf, char)
ON_STREAM_V(shapes::write_formatted, fprintf, vfprintf, char)
ON_STREAM_V(read_formatted, fscanf, vfscanf, char)
ON_STREAM_V(shapes::write_formatted, fprintf, _IO_vfprintf, char)
ON_STREAM_V(read_formatted, fscanf, __vfscanf, char)
ON_STREAM_V(read_formatted, fscanf, __isoc99_vfscanf, char)

ON_STREAM(shapes::write_uncounted, fprintf, fwprintf, vfwprintf, wchar_t)
ON_STREAM_V(shapes::write_uncounted, fprintf, vfwprintf, wchar_t)
ON_STREAM(read_formatted, fscanf, fwscanf, vfwscanf, wchar_t)
ON_STREAM(read_formatted, fscanf, __isoc99_fwscanf, __isoc99_vfwscanf, wchar_t)
ON_STREAM_V(read_formatted, fscanf, vfwscanf, wchar_t)
ON_STREAM_V(read_formatted, fscanf, __isoc99_vfwscanf, wchar_t)

HALCYON_WRAPPER(__vfwprintf_chk, int, (FILE * stream, int flag, const wchar_t* format, va_list values));
int halcyon_wrap___vfwprintf_chk(FILE* stream, int flag, const wchar_t* format, va_list values) {
    return formatted<shapes::write_uncounted, call_id::fprintf>(stream, [&] {
        return HALCYON_REAL(__vfwprintf_chk, int, (FILE*, int, const wchar_t*, va_list))(stream, flag, format, values);
    });
}

HALCYON_WRAPPER(__fwprintf_chk, int, (FILE * stream, int flag, const wchar_t* format, ...));
int halcyon_wrap___fwprintf_chk(FILE* stream, int flag, const wchar_t* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap___vfwprintf_chk(stream, flag, format, values);
    va_end(values);
    return result;
}

HALCYON_WRAPPER(__vfprintf_chk, int, (FILE * stream, int flag, const char* format, va_list values));
int halcyon_wrap___vfprintf_chk(FILE* stream, int flag, const char* format, va_list values) {
    return formatted<shapes::write_formatted, call_id::fprintf>(stream, [&] {
        return HALCYON_REAL(__vfprintf_chk, int, (FILE*, int, const char*, va_list))(stream, flag, format, values);
    });
}

HALCYON_WRAPPER(__fprintf_chk, int, (FILE * stream, int flag, const char* format, ...));
int halcyon_wrap___fprintf_chk(FILE* stream, int flag, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap___vfprintf_chk(stream, flag, format, values);
    va_end(values);
    return result;
}

// --- standard output and input ---

HALCYON_WRAPPER(vprintf, int, (const char* format, va_list values));
int halcyon_wrap_vprintf(const char* format, va_list values) {
    return formatted<shapes::write_formatted, call_id::printf>(
        stdout, [&] { return HALCYON_REAL(vfprintf, int, (FILE*, const char*, va_list))(stdout, format, values); });
}

#define ON_STANDARD_OUTPUT(symbol)                               \
    HALCYON_WRAPPER(symbol, int, (const char* format, ...));     \
    int halcyon_wrap_##symbol(const char* format, ...) {         \
        va_list values;                                          \
        va_start(values, format);                                \
        const int result = halcyon_wrap_vprintf(format, values); \
        va_end(values);                                          \
        return result;                                           \
    }
ON_STANDARD_OUTPUT(printf)
ON_STANDARD_OUTPUT(_IO_printf)

HALCYON_WRAPPER(__vprintf_chk, int, (int flag, const char* format, va_list values));
int halcyon_wrap___vprintf_chk(int flag, const char* format, va_list values) {
    return formatted<shapes::write_formatted, call_id::printf>(stdout, [&] {
        return HALCYON_REAL(__vfprintf_chk, int, (FILE*, int, const char*, va_list))(stdout, flag, format, values);
    });
}

HALCYON_WRAPPER(__printf_chk, int, (int flag, const char* format, ...));
int halcyon_wrap___printf_chk(int flag, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap___vprintf_chk(flag, format, values);
    va_end(values);
    return result;
}

HALCYON_WRAPPER(vwprintf, int, (const wchar_t* format, va_list values));
int halcyon_wrap_vwprintf(const wchar_t* format, va_list values) {
    return formatted<shapes::write_uncounted, call_id::printf>(
        stdout, [&] { return HALCYON_REAL(vfwprintf, int, (FILE*, const wchar_t*, va_list))(stdout, format, values); });
}

HALCYON_WRAPPER(wprintf, int, (const wchar_t* format, ...));
int halcyon_wrap_wprintf(const wchar_t* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap_vwprintf(format, values);
    va_end(values);
    return result;
}

HALCYON_WRAPPER(__vwprintf_chk, int, (int flag, const wchar_t* format, va_list values));
int halcyon_wrap___vwprintf_chk(int flag, const wchar_t* format, va_list values) {
    return formatted<shapes::write_uncounted, call_id::printf>(stdout, [&] {
        return HALCYON_REAL(__vfwprintf_chk, int, (FILE*, int, const wchar_t*, va_list))(stdout, flag, format, values);
    });
}

HALCYON_WRAPPER(__wprintf_chk, int, (int flag, const wchar_t* format, ...));
int halcyon_wrap___wprintf_chk(int flag, const wchar_t* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap___vwprintf_chk(flag, format, values);
    va_end(values);
    return result;
}

/// What programs call scanf and its like by that were built for a C library from 2.38 on, as C23 has them. An older one
/// has not; a program that finds the name here all the same gets the functions of C99, which lack numbers such as
/// 0b101.
#define OF_C23(name, character)                                                                                     \
    static int real_c23_##name(FILE* stream, const character* format, va_list values) {                             \
        using function = int (*)(FILE*, const character*, va_list);                                                 \
        function real = HALCYON_REAL(__isoc23_##name, int, (FILE*, const character*, va_list));                     \
        if (real == nullptr) real = HALCYON_REAL(__isoc99_##name, int, (FILE*, const character*, va_list));         \
        return real(stream, format, values);                                                                        \
    }                                                                                                               \
    HALCYON_WRAPPER(__isoc23_##name, int, (FILE * stream, const character* format, va_list values));                \
    int halcyon_wrap___isoc23_##name(FILE* stream, const character* format, va_list values) {                       \
        return formatted<read_formatted, call_id::fscanf>(stream,                                                   \
                                                          [&] { return real_c23_##name(stream, format, values); }); \
    }
OF_C23(vfscanf, char)
OF_C23(vfwscanf, wchar_t)

#define FORWARD_C23(name, listed, stream, parameters)                              \
    HALCYON_WRAPPER(__isoc23_##name, int, parameters);                             \
    int halcyon_wrap___isoc23_##name parameters {                                  \
        va_list values;                                                            \
        va_start(values, format);                                                  \
        const int result = halcyon_wrap___isoc23_##listed(stream, format, values); \
        va_end(values);                                                            \
        return result;                                                             \
    }
FORWARD_C23(fscanf, vfscanf, stream, (FILE * stream, const char* format, ...))
FORWARD_C23(fwscanf, vfwscanf, stream, (FILE * stream, const wchar_t* format, ...))
FORWARD_C23(scanf, vfscanf, stdin, (const char* format, ...))
FORWARD_C23(wscanf, vfwscanf, stdin, (const wchar_t* format, ...))

#define LISTED_INPUT_C23(name, of_stream, character)                                  \
    HALCYON_WRAPPER(__isoc23_##name, int, (const character* format, va_list values)); \
    int halcyon_wrap___isoc23_##name(const character* format, va_list values) {       \
        return halcyon_wrap___isoc23_##of_stream(stdin, format, values);              \
    }
LISTED_INPUT_C23(vscanf, vfscanf, char)
LISTED_INPUT_C23(vwscanf, vfwscanf, wchar_t)

#define FROM_STANDARD_INPUT(symbol, listed, real, character)                                           \
    HALCYON_WRAPPER(listed, int, (const character* format, va_list values));                           \
    int halcyon_wrap_##listed(const character* format, va_list values) {                               \
        return formatted<read_formatted, call_id::fscanf>(stdin, [&] {                                 \
            return HALCYON_REAL(real, int, (FILE*, const character*, va_list))(stdin, format, values); \
        });                                                                                            \
    }                                                                                                  \
    HALCYON_WRAPPER(symbol, int, (const character* format, ...));                                      \
    int halcyon_wrap_##symbol(const character* format, ...) {                                          \
        va_list values;                                                                                \
        va_start(values, format);                                                                      \
        const int result = halcyon_wrap_##listed(format, values);                                      \
        va_end(values);                                                                                \
        return result;                                                                                 \
    }
FROM_STANDARD_INPUT(scanf, vscanf, vfscanf, char)
FROM_STANDARD_INPUT(__isoc99_scanf, __isoc99_vscanf, __isoc99_vfscanf, char)
FROM_STANDARD_INPUT(wscanf, vwscanf, vfwscanf, wchar_t)
FROM_STANDARD_INPUT(__isoc99_wscanf, __isoc99_vwscanf, __isoc99_vfwscanf, wchar_t)

// --- all streams ---

extern "C" {
// glibc's own way through its list of streams, by glibc's own names.
// NOLINTBEGIN(bugprone-reserved-identifier)
struct _IO_FILE* _IO_iter_file(void* position);
void* _IO_iter_begin(void);
void* _IO_iter_end(void);
void* _IO_iter_next(void* position);
void _IO_list_lock(void);
void _IO_list_unlock(void);
// NOLINTEND(bugprone-reserved-identifier)
}

#define FLUSH(symbol)                                                                                                \
    HALCYON_WRAPPER(symbol, int, (FILE * stream));                                                                   \
    int halcyon_wrap_##symbol(FILE* stream) {                                                                        \
        const auto real = HALCYON_REAL(symbol, int, (FILE*));                                                        \
        if (stream != nullptr) return formatted<flush_shape, call_id::fflush>(stream, [&] { return real(stream); }); \
        shapes::flush_streams(call_id::fflush);                                                                      \
        return real(stream);                                                                                         \
    }
FLUSH(fflush)
FLUSH(fflush_unlocked)
FLUSH(_IO_fflush)

HALCYON_WRAPPER(rewind, void, (FILE * stream));
void halcyon_wrap_rewind(FILE* stream) {
    const auto real = HALCYON_REAL(rewind, void, (FILE*));
    formatted<rewind_shape, call_id::rewind>(stream, [&] {
        real(stream);
        return 0;
    });
}

HALCYON_WRAPPER(__overflow, int, (FILE * stream, int character));
int halcyon_wrap___overflow(FILE* stream, int character) {
    const auto real = HALCYON_REAL(__overflow, int, (FILE*, int));
    if (shapes::made_by_c_library()) return real(stream, character);
    return formatted<shapes::write_formatted, call_id::fputc>(stream,
                                                              [&] {
                                                                  const int written = real(stream, character);
                                                                  return written == EOF ? -1
                                                                                        : (character == EOF ? 0 : 1);
                                                              }) < 0
               ? EOF
               : static_cast<unsigned char>(character);
}

namespace shapes {
namespace {

bool has_waiting(const FILE* stream) {
    return is_of_file(stream) && (is_wide_and_putting(stream) || stream->_IO_write_ptr > stream->_IO_write_base);
}

void flush_one(FILE* stream, call_id because_of) {
    if (because_of == call_id::exit_flush) {
        formatted<flush_shape, call_id::exit_flush>(stream, [&] { return fflush_of_library(stream); });
    } else {
        formatted<flush_shape, call_id::fflush>(stream, [&] { return fflush_of_library(stream); });
    }
}

}  // namespace

// Under the list's lock, as the C library does it: nobody can close a stream meanwhile. At the end of the process, a
// stream that another thread holds is left to the C library, which waits for none.
void flush_streams(call_id because_of) {
    if (!recording()) return;
    const bool is_last = because_of == call_id::exit_flush;
    if (is_last) stream_slots::expect_end();
    uint64_t held_by_others = 0;
    _IO_list_lock();
    for (void* at = _IO_iter_begin(); at != _IO_iter_end(); at = _IO_iter_next(at)) {
        FILE* stream = reinterpret_cast<FILE*>(_IO_iter_file(at));
        // What goes through the slots is seen in any case, but for the end, after which nothing is.
        if (!has_waiting(stream) || (!is_last && stream_slots::answers(stream->_fileno))) continue;
        if (!is_last) {
            flush_one(stream, because_of);
        } else if (ftrylockfile(stream) == 0) {
            flush_one(stream, because_of);
            funlockfile(stream);
        } else {
            ++held_by_others;
        }
    }
    _IO_list_unlock();
    if (held_by_others == 0) return;
    this_process().layers.each([&](layer& l) { l.on_absence("streams that were in use at the end", held_by_others); });
}

void flush_stream(FILE* stream) {
    if (stream != nullptr && has_waiting(stream)) flush_one(stream, call_id::fflush);
}

void stop_buffering() {
    const auto set = HALCYON_REAL(setvbuf, int, (FILE*, char*, int, size_t));
    for (FILE* stream : {stdout, stderr}) {
        if (ftrylockfile(stream) != 0) continue;
        if (stream->_mode <= 0 && stream->_IO_write_ptr == stream->_IO_write_base) set(stream, nullptr, _IONBF, 0);
        funlockfile(stream);
    }
}

}  // namespace shapes
}  // namespace halcyon::calls
