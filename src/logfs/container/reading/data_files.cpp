#include "logfs/container/reading/data_files.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/reading/index_intake.hpp"

namespace halcyon::logfs {
namespace {

/// Beside the keys of index_intake.hpp.
uint64_t copied_key(uint32_t dropping) {
    return uint64_t{dropping} * 2 + (uint64_t{1} << 40);
}

bool is_out_of_reach(int done) {
    return done == -ENOENT || done == -EACCES || done == -ENOTDIR || done == -ELOOP;
}

}  // namespace

/// What is open by now may be the file on the node's disk.
int data_files::get_whole(uint32_t dropping, const char* name) {
    const uint64_t opened_before = files_.opened();
    const int fd = files_.get(data_key(dropping), container_.directory(), name);
    if (fd >= 0 && files_.opened() != opened_before && dropping < in_container_.size()) in_container_.set(dropping);
    return fd;
}

int data_files::get(uint32_t dropping, int64_t& end) {
    end = INT64_MAX;
    if (const int open = files_.find(data_key(dropping)); open >= 0) return open;
    const int directory = container_.directory();
    const short_name name = writers_.data_name_of(dropping);
    const auto get_whole = [&] { return this->get_whole(dropping, name.c_str()); };
    const int whole = get_whole();
    if (whole != -ENOENT || container_.is_plfs()) return whole;
    staged_mark mark;
    if (const int marked = mark.read(container_, name.view()); marked != 0) {
        // It was brought a moment ago, or it is missing.
        return marked == -ENOENT ? get_whole() : marked;
    }
    char path[staged_path_room];
    mark.path_of(name.view(), path, sizeof path);
    const int here = files_.get(data_key(dropping), AT_FDCWD, path);
    if (here >= 0 && !staged_mark::may_mean(container_, name.view(), here)) {
        files_.close(data_key(dropping));
        return -EPERM;
    }
    if (!is_out_of_reach(here)) return here;
    if (const int brought = get_whole(); brought != -ENOENT) return brought;
    end = writers_[dropping].committed_bytes;
    const int copied =
        end > 0 ? files_.get(copied_key(dropping), directory, copied_name(name.view()).c_str()) : -ENOENT;
    if (copied != -ENOENT) return copied;
    // Renamed a moment ago.
    const int brought = end > 0 ? get_whole() : -ENOENT;
    if (brought >= 0) end = INT64_MAX;
    return brought == -ENOENT ? -ENODATA : brought;
}

failure data_files::elsewhere(uint32_t dropping, int64_t needed) {
    const short_name name = writers_.data_name_of(dropping);
    staged_mark mark;
    std::string where = "another node";
    if (mark.read(container_, name.view()) == 0)
        where = "node " + std::string(mark.host()) + ", in " + std::string(mark.folder());
    return {error_kind::system,
            std::string(container_.path()) + "/" + std::string(name.view()) + ": its bytes up to " +
                std::to_string(needed) + " lie on " + where +
                ", and were not brought into the container yet; 'halcyon log drain' there does that",
            ENODATA};
}

}  // namespace halcyon::logfs
