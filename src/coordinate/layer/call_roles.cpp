#include "coordinate/layer/call_roles.hpp"

#include "calls/record/call_circumstances.hpp"

namespace halcyon::coordinate {
using calls::call_id;
using calls::kind;
using calls::level;

namespace {

call_role role_in_posix(call_id function, kind does) {
    switch (does) {
        case kind::read:
        case kind::write:
        case kind::copy:
        case kind::sync:
            return calls::never_waits(function) ? call_role::background : call_role::transfer;
        case kind::open:
        case kind::namespace_:
        case kind::resize:
            return call_role::metadata;
        case kind::lock:
            return call_role::lock;
        case kind::unlock:
            return call_role::unlock;
        case kind::close:
            return call_role::close;
        default:
            break;
    }
    switch (function) {
        case call_id::dup:
        case call_id::dup2:
        case call_id::dup3:
        case call_id::fcntl:
            return call_role::duplicate;
        default:
            return call_role::none;
    }
}

call_role role_in_stdio(call_id function, kind does) {
    // What waits in buffers when the process ends goes out as it does by a close: at once.
    if (function == call_id::exit_flush) return call_role::none;
    switch (does) {
        case kind::read:
        case kind::write:
        case kind::sync:
            return call_role::stream;
        case kind::open:
            return call_role::metadata;
        case kind::close:
            return call_role::close;
        default:
            return call_role::none;
    }
}

}  // namespace

call_role role_of(call_id function) {
    const calls::function_entry& entry = calls::entry_of(static_cast<uint16_t>(function));
    switch (entry.at) {
        case level::posix:
            return role_in_posix(function, entry.does);
        case level::stdio:
            return role_in_stdio(function, entry.does);
        case level::mpiio:
            return calls::is_collective(function) ? call_role::collective : call_role::none;
        default:
            return call_role::none;
    }
}

/// A process waits before it takes a lock, so that it need not while it writes. fflush writes.
file_use use_of(call_id function) {
    const calls::function_entry& entry = calls::entry_of(static_cast<uint16_t>(function));
    switch (role_of(function)) {
        case call_role::transfer:
        case call_role::stream:
        case call_role::background:
        case call_role::collective:
            if (entry.does == kind::read) return file_use::read;
            return entry.does == kind::sync && entry.at != level::stdio ? file_use::sync : file_use::write;
        case call_role::lock:
            return file_use::write;
        default:
            return file_use::name;
    }
}

}  // namespace halcyon::coordinate
