#include "calls/wrappers/mpi/mpi_hints.hpp"

#include <cstdlib>
#include <string_view>

#include "calls/backends/mounted_path.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/wrappers/mpi/mpi_paths.hpp"

namespace halcyon::calls::mpi {
namespace {

/// In the file that ROMIO reads hints from, for all files.
bool is_in_hints_of_romio(std::string_view key) {
    const char* const path = std::getenv("ROMIO_HINTS");
    if (path == nullptr) return false;
    const int fd = direct::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char text[8192];
    const ssize_t bytes = direct::read(fd, text, sizeof text);
    direct::close(fd);
    return bytes > 0 && std::string_view(text, static_cast<size_t>(bytes)).find(key) != std::string_view::npos;
}

bool is_in_info(handle info, const char* key) {
    constexpr int room = 255;
    char value[room + 1] = {};
    int there = 0;
    return ask(HALCYON_PMPI(Info_get, (handle, const char*, int, char*, int*)), info, key, room, value, &there) ==
               success &&
           there != 0;
}

}  // namespace

file_hints::file_hints(const char* path, handle given) : used_(given) {
    is_made_ = add(path);
    if (is_made_) used_ = made_;
}

file_hints::file_hints(const char* path, int* given)
    : used_(backends::present() ? info_from_fortran(*given) : nullptr), used_by_fortran_(given) {
    is_made_ = add(path);
    if (!is_made_) return;
    number_ = fortran_info(made_);
    used_by_fortran_ = &number_;
}

file_hints::~file_hints() {
    if (is_made_) ask(HALCYON_PMPI(Info_free, (handle*)), &made_);
}

bool file_hints::add(const char* path) {
    if (!backends::present() || !handles_are_known()) return false;
    backends::mounted_path at;
    if (!at.find(AT_FDCWD, without_prefix(path))) return false;
    const file_backend::hint wanted = at.backend().hint_for_mpi();
    if (wanted.key == nullptr) return false;
    const bool has_info = key_of(used_) != key_of(null_info());
    if (is_in_hints_of_romio(wanted.key) || (has_info && is_in_info(used_, wanted.key))) return false;
    const int made = has_info ? ask(HALCYON_PMPI(Info_dup, (handle, handle*)), used_, &made_)
                              : ask(HALCYON_PMPI(Info_create, (handle*)), &made_);
    if (made != success) return false;
    ask(HALCYON_PMPI(Info_set, (handle, const char*, const char*)), made_, wanted.key, wanted.value);
    return true;
}

}  // namespace halcyon::calls::mpi
