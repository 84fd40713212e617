#pragma once

#include "calls/record/call_table.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls {

/// A call that a backend makes to the kernel so that it can answer one of the application's.
struct call_below {
    call_id function;      ///< of level log
    uint32_t file;         ///< known_files id of what the backend itself uses; `unknown` for calls about none
    int64_t offset;        ///< bytes; none: it has no place
    int64_t bytes;         ///< that it asks for; none: none
    int64_t argument = 0;  ///< call_record::argument
};

/// Whether a layer of this process looks at what backends do (layer::wants_calls_below). Starts no recording.
inline bool are_calls_below_wanted() {
    return this_process().below.load(std::memory_order_relaxed);
}

/// Whether the calling thread may show such a call now: not within work of the recorder's own, nor in a child of vfork.
inline bool is_shown_below() {
    return are_calls_below_wanted() && this_thread_state.inside == 0;
}

/// report_below, without the types of what it calls.
int64_t report_erased(const call_below& about, int64_t (*call)(void*), void (*after)(void*, call_record&), void* both);

/// Makes the call, and shows it to the layers: as made during the call that is being answered, whatever its level; by
/// nobody where the backend does it of its own accord (the process ends). `call()` returns -errno where it fails, and
/// so does this. `after(record)` completes the record.
///
/// Layers can neither delay it (the backend may hold locks of its own; they could delay the call above) nor keep it
/// from being made. Where no layer wants it (one comparison), and within work of the recorder's own, it is made and not
/// shown.
template <class Call, class After>
int64_t report_below(const call_below& about, Call call, After after) {
    if (!is_shown_below()) [[likely]]
        return call();
    struct {
        Call& call;
        After& after;
    } both{call, after};
    using pair = decltype(both);
    return report_erased(
        about, [](void* opaque) -> int64_t { return static_cast<pair*>(opaque)->call(); },
        [](void* opaque, call_record& record) { static_cast<pair*>(opaque)->after(record); }, &both);
}

template <class Call>
int64_t report_below(const call_below& about, Call call) {
    return report_below(about, call, [](call_record&) {});
}

}  // namespace halcyon::calls
