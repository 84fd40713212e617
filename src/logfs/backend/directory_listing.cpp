#include "logfs/backend/directory_listing.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "calls/state/direct_call.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/whole_path.hpp"

namespace halcyon::logfs {

/// What lies behind a place; 1, 0 at the end, or -errno.
int directory_listing::fill(int directory, uint64_t after) {
    if (place_ == after && at_ < used_) return 1;
    if (place_ != after) {
        const int64_t sought = calls::direct::lseek(directory, static_cast<int64_t>(after - dots), SEEK_SET);
        if (sought < 0) return static_cast<int>(sought);
    }
    place_ = nowhere;
    const int64_t bytes = direct_files().list(directory, buffer_, sizeof buffer_);
    if (bytes <= 0) return static_cast<int>(bytes);
    place_ = after;
    at_ = 0;
    used_ = static_cast<size_t>(bytes);
    return 1;
}

int directory_listing::next(int directory, uint64_t& after, calls::file_backend::entry& out) {
    if (after < dots) {
        const char* const name = after == 0 ? "." : "..";
        struct stat state {};
        if (const int failed = direct_files().status_at(directory, name, state); failed != 0) return failed;
        out = {.inode = state.st_ino, .type = DT_DIR, .name = {'.', name[1]}};
        ++after;
        return 1;
    }
    for (;;) {
        if (const int there = fill(directory, after); there <= 0) return there;
        const auto* const entry = reinterpret_cast<const dirent64*>(buffer_ + at_);
        at_ += entry->d_reclen;
        place_ = after = static_cast<uint64_t>(entry->d_off) + dots;
        const std::string_view name(entry->d_name);
        if (name == "." || name == ".." || is_hidden_name(name) || name.size() >= sizeof out.name) continue;
        out.inode = entry->d_ino;
        out.type = entry->d_type;
        std::memcpy(out.name, name.data(), name.size());
        out.name[name.size()] = '\0';
        struct stat state {};
        if (out.type == DT_UNKNOWN && direct_files().status_at(directory, out.name, state) == 0)
            out.type = static_cast<unsigned char>(IFTODT(state.st_mode));
        if (out.type == DT_DIR && is_container(directory, out.name)) out.type = DT_REG;
        return 1;
    }
}

}  // namespace halcyon::logfs
