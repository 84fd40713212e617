// dprintf and its like: to a descriptor, through no stream that anybody has, in one transfer that the C library makes
// past us.
#include <stdarg.h>

#include "calls/wrappers/posix/transfer_shapes.hpp"
#include "calls/wrappers/stdio/backend_streams.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

struct print_to_descriptor {
    static bool before(call_record& record, int fd) { return shapes::before_next(record, fd, true); }
};

template <class Function>
int formatted_to(int fd, Function function) {
    if (!recording()) return function();
    thread_state& thread = this_thread();
    call_record record = blank_record(call_id::dprintf);
    if ((thread.inside > 0 && !may_record(thread)) || !print_to_descriptor::before(record, fd)) return function();
    return through_layers(thread, record, function, [&](call_record& called, int result) {
        called.bytes = result < 0 ? none : result;
        shapes::after_next(called, result, fd);
    });
}

/// By the C library, or by the backend that the file belongs to. `checks`: of programs that are built with them.
template <class Function>
int printed_to(int fd, int checks, const char* format, va_list values, Function of_library) {
    if (backends::present()) [[unlikely]] {
        if (const backends::owned_file file = backends::owner_of(fd))
            return formatted_to(fd, [&] { return backend_streams::print(file, fd, checks, format, values); });
    }
    return formatted_to(fd, of_library);
}

}  // namespace

HALCYON_WRAPPER(vdprintf, int, (int fd, const char* format, va_list values));
int halcyon_wrap_vdprintf(int fd, const char* format, va_list values) {
    return printed_to(fd, 0, format, values,
                      [&] { return HALCYON_REAL(vdprintf, int, (int, const char*, va_list))(fd, format, values); });
}

HALCYON_WRAPPER(dprintf, int, (int fd, const char* format, ...));
int halcyon_wrap_dprintf(int fd, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap_vdprintf(fd, format, values);
    va_end(values);
    return result;
}

HALCYON_WRAPPER(__vdprintf_chk, int, (int fd, int flag, const char* format, va_list values));
int halcyon_wrap___vdprintf_chk(int fd, int flag, const char* format, va_list values) {
    return printed_to(fd, flag, format, values, [&] {
        return HALCYON_REAL(__vdprintf_chk, int, (int, int, const char*, va_list))(fd, flag, format, values);
    });
}

HALCYON_WRAPPER(__dprintf_chk, int, (int fd, int flag, const char* format, ...));
int halcyon_wrap___dprintf_chk(int fd, int flag, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = halcyon_wrap___vdprintf_chk(fd, flag, format, values);
    va_end(values);
    return result;
}

}  // namespace halcyon::calls
