#pragma once

#include <cstdint>

#include "calls/record/call_record.hpp"
#include "calls/wrappers/handle_table.hpp"
#include "calls/wrappers/mpi/mpi_library.hpp"

/// The files that the application has open through MPI, and the requests of transfers that it started.
namespace halcyon::calls::mpi {

/// The known_files id of an open file; 0 where it is not known.
uint32_t file_of(handle file);

/// `path`: as the application gave it. Once open, the kernel tells where that is, so that the id is that of the POSIX
/// calls below. `sequential`: MPI_MODE_SEQUENTIAL, where positions have no meaning.
uint32_t opened(handle file, const char* path, bool sequential);
void closed(handle file);

/// The view begins where the file does and counts bytes, or not: then offsets of calls are not those in the file.
void set_view_is_plain(handle file, bool plain);

/// True when the file's view that was last asked about here showed other pieces, so that the same view, set for each
/// transfer, is told once.
bool view_is_news(handle file, int64_t piece, int64_t every);

/// The byte in the file at which `offset` (in elementary types of the view) lies; none where that is not known.
int64_t absolute_offset(handle file, int64_t offset);

/// Where the individual file pointer stands, in bytes of the file; none where that is not known.
int64_t absolute_position(handle file);

namespace requests {

struct started {
    uint32_t file;
    bool known;
};

extern handle_table<4096> started_requests;

/// True when no transfer of this process waits for its completion: one load.
inline bool none_started() {
    return started_requests.empty();
}
void add(handle request, uint32_t file);
[[nodiscard]] bool is_known(handle request);
/// Forgets the request: before the call that may complete it, for the library may give the handle to another thread
/// before that call returns. A call that did not complete it adds it again.
started take(handle request);

}  // namespace requests
}  // namespace halcyon::calls::mpi
