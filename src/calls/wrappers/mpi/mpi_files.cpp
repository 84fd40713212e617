#include "calls/wrappers/mpi/mpi_files.hpp"

#include "calls/state/known_files.hpp"
#include "calls/wrappers/handle_table.hpp"
#include "calls/wrappers/mpi/mpi_paths.hpp"

namespace halcyon::calls::mpi {
namespace {

// A file's words: its id, and what its offsets mean; in the bits above, the view that was told last.
constexpr uint64_t plain_view = 0;
constexpr uint64_t other_view = 1;
constexpr uint64_t sequential_access = 2;
constexpr uint64_t meaning = 3;

using file_table = handle_table<1024>;
constinit file_table files{};

// A file is a pointer with all libraries.
uint64_t key_of_file(handle file) {
    return reinterpret_cast<uintptr_t>(file);
}

}  // namespace

uint32_t file_of(handle file) {
    file_table::words known{};
    return files.find(key_of_file(file), known) ? static_cast<uint32_t>(known.first) : known_files::unknown;
}

uint32_t opened(handle file, const char* path, bool sequential) {
    const uint32_t id = known_files::of_opened_path(without_prefix(path));
    if (!files.add(key_of_file(file), {id, sequential ? sequential_access : plain_view})) {
        this_process().layers.each([](layer& l) { l.on_absence("names of MPI files: too many are open", 1); });
    }
    return id;
}

void closed(handle file) {
    files.remove(key_of_file(file));
}

void set_view_is_plain(handle file, bool plain) {
    file_table::words known{};
    if (!files.find(key_of_file(file), known) || (known.second & meaning) == sequential_access) return;
    files.add(key_of_file(file), {known.first, (known.second & ~meaning) | (plain ? plain_view : other_view)});
}

bool view_is_news(handle file, int64_t piece, int64_t every) {
    file_table::words known{};
    if (!files.find(key_of_file(file), known)) return false;
    const uint64_t shape = (static_cast<uint64_t>(piece) * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(every)) << 2;
    if ((known.second & ~meaning) == shape) return false;
    files.add(key_of_file(file), {known.first, shape | (known.second & meaning)});
    return true;
}

// Only files that were seen to be opened are asked about: the library calls the error handler of a file that it does
// not like a question about.
int64_t absolute_offset(handle file, int64_t offset) {
    file_table::words known{};
    if (!files.find(key_of_file(file), known) || offset < 0) return none;
    if ((known.second & meaning) == plain_view) return offset;
    if ((known.second & meaning) == sequential_access) return none;
    int64_t bytes = none;
    const int result = ask(HALCYON_PMPI(File_get_byte_offset, (handle, int64_t, int64_t*)), file, offset, &bytes);
    return result == success ? bytes : none;
}

int64_t absolute_position(handle file) {
    file_table::words known{};
    if (!files.find(key_of_file(file), known) || (known.second & meaning) == sequential_access) return none;
    int64_t position = none;
    if (ask(HALCYON_PMPI(File_get_position, (handle, int64_t*)), file, &position) != success) return none;
    return absolute_offset(file, position);
}

namespace requests {

constinit handle_table<4096> started_requests{};

void add(handle request, uint32_t file) {
    if (!started_requests.add(key_of(request), {file, 0})) {
        this_process().layers.each(
            [](layer& l) { l.on_absence("completions of MPI-IO requests: too many are started", 1); });
    }
}

bool is_known(handle request) {
    handle_table<4096>::words known{};
    return started_requests.find(key_of(request), known);
}

started take(handle request) {
    handle_table<4096>::words known{};
    const bool taken = started_requests.take(key_of(request), known);
    return {static_cast<uint32_t>(known.first), taken};
}

}  // namespace requests
}  // namespace halcyon::calls::mpi
