#pragma once

#include <cstddef>
#include <cstdint>

#include "base/io_forecast.hpp"

/// What I/O a process is about to do, as one part of libhalcyon-io asks another one: by the ids of files, without names
/// (io_forecast.hpp has those, for libraries of other releases).
namespace halcyon::coming_io {

/// An access that is expected. Times count from the moment of the forecast.
struct access {
    /// That is there, by its id (known_files.hpp): the one of the access, or the last one of that kind of name where
    /// the access is to a new file. 0: not known.
    uint32_t file;
    bool moves;  ///< bytes: it reads, writes, copies or syncs
    int64_t bytes;
    int64_t begins_ns;
    int64_t duration_ns;
};

/// Of the phase under way and of the next one, in the order of their begins.
struct forecast {
    static constexpr size_t most = 4096;

    size_t count = 0;
    bool cut_off = false;       ///< more come than were looked at: the last of these is no end of anything
    io_forecast::answer whole;  ///< of the process; without numbers of accesses
    access accesses[most];
};

/// Any thread, also one of ours that has no thread-local variables. False: nothing is known, or there is no memory.
using source = bool (*)(forecast& found);

}  // namespace halcyon::coming_io
