#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::calls {

/// The interface that was called, from the application's side down.
/// `log`: the system calls by which a log (`halcyon run --log`) answers one of the application's.
enum class level : uint8_t { hdf5, mpiio, stdio, posix, log };

/// What a call does, whatever its name and level. The names in traces are those of kind_name().
enum class kind : uint8_t {
    open,
    close,
    read,
    write,
    copy,  ///< from one file into another; the record's file is the destination
    seek,
    sync,
    resize,
    lock,
    unlock,
    stat,        ///< asks about a file
    namespace_,  ///< changes names or attributes
    directory,
    map,
    view,  ///< MPI_File_set_view, set_info, set_atomicity
    wait,  ///< for a transfer that was started before
    control,
};

inline constexpr const char* level_names[] = {"hdf5", "mpiio", "stdio", "posix", "log"};
inline constexpr const char* kind_names[] = {"open",      "close",  "read", "write",  "copy",   "seek",
                                             "sync",      "resize", "lock", "unlock", "stat",   "namespace",
                                             "directory", "map",    "view", "wait",   "control"};

/// For offset, bytes and moved: the call has none, or it is not known.
inline constexpr int64_t none = -1;

/// In place of call_record::start, where others wait for a record: a jump kept its thread from writing it.
inline constexpr int64_t abandoned = -1;

/// One call of an I/O function: a plain value that says everything. Times are ticks (ticks.hpp).
struct call_record {
    int64_t start;      ///< when the function itself began, after any waiting
    int64_t duration;   ///< of the function itself
    int64_t wait;       ///< how long layers held it back before
    int64_t offset;     ///< bytes; where it reads, writes, locks or maps
    int64_t bytes;      ///< how many the caller asked for
    int64_t moved;      ///< how many were transferred (reads, writes, copies)
    int64_t result;     ///< what the function returned, where that is a number
    int64_t argument;   ///< depends on the function: open flags, whence, the other file, address of a request
    uint32_t file;      ///< id of known_files; 0: no file, or not known
    uint32_t thread;    ///< of this process, counted from 0 in the order of their first calls
    uint32_t number;    ///< of the call in its thread, in the order of their beginnings, from 1
    uint32_t parent;    ///< number of the call of this thread during which it was made; 0: the application's own
    uint16_t function;  ///< call_id (call_table.hpp)
    uint16_t error;     ///< errno or MPI error class; 0: it succeeded
    uint32_t context;   ///< number of the call stack that it was made from (contexts.hpp); 0: none, or nobody wants it
};
static_assert(has_copied_layout<call_record, 88, 8>());
static_assert(offsetof(call_record, start) == 0 && offsetof(call_record, file) == 64);

}  // namespace halcyon::calls
