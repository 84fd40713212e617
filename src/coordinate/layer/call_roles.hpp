#pragma once

#include "calls/record/call_table.hpp"

namespace halcyon::coordinate {

/// What a call means to the one who gives turns.
enum class call_role : uint8_t {
    none,        ///< passes
    transfer,    ///< of POSIX: takes turns
    stream,      ///< takes turns where it moves data, which the calls that it makes count
    background,  ///< starts a transfer or asks about one: is counted, not held back
    metadata,    ///< takes turns in a burst
    collective,  ///< of MPI-IO: the transfers under it have rounds
    lock,
    unlock,
    close,
    duplicate,  ///< a descriptor
};

call_role role_of(calls::call_id function);

/// What a call does to a file: where a backend keeps the bytes of the file, each may lead to another file system.
enum class file_use : uint8_t { name, write, read, sync };

/// By which of them a call finds its turn.
file_use use_of(calls::call_id function);

}  // namespace halcyon::coordinate
