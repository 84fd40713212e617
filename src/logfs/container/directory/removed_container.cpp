#include "logfs/container/directory/removed_container.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/remove_tree.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {
namespace {

/// Without a marker, another has begun to remove it.
bool is_unused(int marker, int locked, without_locks what_then) {
    if (marker < 0) return marker == -ENOENT;
    return locked == 0 || (locked != -EAGAIN && what_then == without_locks::goes);
}

}  // namespace

bool remove_unused(file_calls& calls, const char* path, std::string_view index_folder, without_locks what_then) {
    const int directory = calls.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) return directory == -ENOENT;
    int marker = calls.open_at(directory, marker_name.data(), O_RDWR, 0);
    if (marker == -ENOENT) marker = calls.open_at(directory, plfs_access_name.data(), O_RDWR, 0);
    // Its owner may not change the file, but remove it.
    if (marker == -EACCES && calls.set_mode_at(directory, marker_name.data(), S_IRUSR | S_IWUSR) == 0)
        marker = calls.open_at(directory, marker_name.data(), O_RDWR, 0);
    bool is_gone = is_unused(marker, marker < 0 ? marker : keep_alone(calls, marker), what_then);
    if (is_gone) {
        container what(calls);
        if (what.open(path)) remove_other_directories(calls, directory, what.id());
        what.close();
        remove_node_index(calls, index_folder, directory);
        is_gone = remove_tree(calls, AT_FDCWD, path, levels_of_container) == 0;
    }
    if (marker >= 0) calls.close(marker);
    calls.close(directory);
    return is_gone;
}

}  // namespace halcyon::logfs
