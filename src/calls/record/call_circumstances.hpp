#pragma once

#include <cstdint>

#include "calls/record/call_table.hpp"

namespace halcyon::calls {

/// An answer that is not always known before a call is made.
enum class expected : uint8_t { no, yes, not_known };

inline constexpr const char* expected_names[] = {"no", "yes", "not known"};

/// What a layer that delays calls must know before it does, besides the record.
struct call_circumstances {
    /// The function during whose call this one is made (call_record::parent is its number): a layer that let that call
    /// wait need not let this one wait again. call_id::unknown: the application's own.
    call_id parent_function;
    /// Whether the caller accepts to wait in this call. False for calls that only start a transfer or ask whether one
    /// is over, for locks that are tried, and for calls that are over when layers hear of them (what a stream moved).
    ///
    /// O_NONBLOCK does not count: it has no effect on files, and calls on anything else have no record.
    bool may_block;
    /// Whether data go between the process and the file system while the call runs: of reads, writes, copies and syncs.
    /// Of a call on a stream, this follows from the state of its buffer. Calls of MPI-IO and HDF5 leave it to the calls
    /// below them, which have circumstances of their own: not known.
    expected transfers;
};

/// Whether a function returns without waiting for a transfer, whatever its arguments: it starts one, or asks about it.
inline constexpr bool never_waits(call_id function) {
    switch (function) {
        case call_id::aio_read:
        case call_id::aio_write:
        case call_id::aio_fsync:
        case call_id::aio_return:
        case call_id::aio_return_read:
        case call_id::aio_return_write:
        case call_id::MPI_File_iread:
        case call_id::MPI_File_iread_all:
        case call_id::MPI_File_iread_at:
        case call_id::MPI_File_iread_at_all:
        case call_id::MPI_File_iread_shared:
        case call_id::MPI_File_iwrite:
        case call_id::MPI_File_iwrite_all:
        case call_id::MPI_File_iwrite_at:
        case call_id::MPI_File_iwrite_at_all:
        case call_id::MPI_File_iwrite_shared:
        case call_id::MPI_File_read_all_begin:
        case call_id::MPI_File_read_at_all_begin:
        case call_id::MPI_File_read_ordered_begin:
        case call_id::MPI_File_write_all_begin:
        case call_id::MPI_File_write_at_all_begin:
        case call_id::MPI_File_write_ordered_begin:
        case call_id::MPI_Test:
        case call_id::MPI_Testall:
        case call_id::MPI_Testany:
        case call_id::MPI_Testsome:
        case call_id::MPI_Request_free:
            return true;
        default:
            return false;
    }
}

/// The circumstances of an application's own call, as far as its function alone tells them.
inline constexpr call_circumstances usual_circumstances(uint16_t function) {
    const function_entry& entry = entry_of(function);
    const bool moves =
        entry.does == kind::read || entry.does == kind::write || entry.does == kind::copy || entry.does == kind::sync;
    const bool told_below = entry.at < level::posix && (moves || entry.does == kind::close || entry.does == kind::wait);
    return {call_id::unknown, !never_waits(static_cast<call_id>(function)),
            told_below ? expected::not_known : (moves ? expected::yes : expected::no)};
}

}  // namespace halcyon::calls
