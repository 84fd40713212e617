#pragma once

#include "calls/record/interception.hpp"

namespace halcyon::calls {

/// A call that a backend makes to the kernel so that it can answer one of the application's.
struct call_below {
    call_id function;      ///< of POSIX
    uint32_t file;         ///< known_files id of what the backend itself uses; `unknown` for calls about none
    int64_t offset;        ///< bytes; none: it has no place
    int64_t bytes;         ///< that it asks for; none: none
    int64_t argument = 0;  ///< call_record::argument
};

/// Makes the call, and shows it to the layers as made during the one that is being answered, which is a call of POSIX
/// like this one: its parent. Readers count what a child moves once, as they do below MPI-IO. `call()` returns -errno
/// where it fails, and so does this.
///
/// Layers can neither delay it (the backend may hold locks of its own; they could delay the call above) nor keep it
/// from being made. Outside of any recorded call, and where nothing is recorded, it is made and not shown.
template <class Call>
int64_t report_below(const call_below& about, Call call) {
    const thread_state& current = this_thread_state;
    if (current.current == 0 || !recording()) return call();
    thread_state& thread = this_thread();
    if (thread.current == 0 || thread.inside > 0) return call();
    call_record record = blank_record(about.function);
    record.parent = thread.current;
    record.file = about.file;
    record.offset = about.offset;
    record.bytes = about.bytes;
    record.argument = about.argument;
    return through_layers(
        thread, record, call,
        [](call_record& called, int64_t result) {
            called.error = static_cast<uint16_t>(result < 0 ? -result : 0);
            called.result = result < 0 ? -1 : result;
            const kind does = entry_of(called.function).does;
            const bool moves = does == kind::read || does == kind::write || does == kind::copy;
            if (moves && result >= 0) called.moved = result;
        },
        [](const call_record&, call_circumstances& found) { found.may_block = false; });
}

}  // namespace halcyon::calls
