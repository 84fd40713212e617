#include "calls/backends/report_below.hpp"

#include "calls/record/interception.hpp"

namespace halcyon::calls {

int64_t report_erased(const call_below& about, int64_t (*call)(void*), void (*after)(void*, call_record&), void* both) {
    if (!recording()) return call(both);
    thread_state& thread = this_thread();
    if (thread.inside > 0) return call(both);
    call_record record = blank_record(about.function);
    record.parent = thread.current;
    record.file = about.file;
    record.offset = about.offset;
    record.bytes = about.bytes;
    record.argument = about.argument;
    return through_layers(
        thread, record, [=] { return call(both); },
        [=](call_record& called, int64_t result) {
            called.error = static_cast<uint16_t>(result < 0 ? -result : 0);
            called.result = result < 0 ? -1 : result;
            const kind does = entry_of(called.function).does;
            const bool moves = does == kind::read || does == kind::write || does == kind::copy;
            if (moves && result >= 0) called.moved = result;
            after(both, called);
        },
        [](const call_record&, call_circumstances& found) { found.may_block = false; });
}

}  // namespace halcyon::calls
