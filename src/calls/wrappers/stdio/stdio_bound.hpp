#pragma once

#include "calls/wrappers/stdio/stdio_shapes.hpp"

namespace halcyon::calls {

/// Sends a call on a stream through the layers whose arguments no shape can look at (they are a va_list): `function`
/// is the C library's, with its arguments bound.
template <class Shape, call_id id, class Function>
int formatted(FILE* stream, Function function) {
    if (!recording()) return function();
    thread_state& thread = this_thread();
    call_record record = blank_record(id);
    Shape shape;
    if ((thread.inside > 0 && !may_record(thread)) || !shape.before(record, stream)) return function();
    return through_layers(
        thread, record, function, [&](call_record& called, int result) { shape.after(called, result, stream); },
        [&](const call_record& called, call_circumstances& found) { tell_of(shape, called, found, stream); });
}

}  // namespace halcyon::calls
