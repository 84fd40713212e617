#include "logfs/container/directory/access.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

/// Calls `change(name, is_directory)`, which returns -errno, for all in the container but its marker: its directory
/// first, then each host directory before what is in it. All are tried; the first failure is returned.
template <class Change>
result<void> for_all_parts(container& of, Change change) {
    memory_source memory(of.calls());
    result<void> first;
    const auto note = [&](std::string_view name, int done) {
        if (done < 0 && done != -ENOENT && first.ok()) first = of.failed(name, "cannot change its access", -done);
    };
    note({}, change(".", true));
    const int listed = names_in(of.calls(), memory, of.directory(), ".", [&](std::string_view found) {
        const short_name name(found);
        if (found == marker_name) return 0;
        uint32_t number = 0;
        const bool is_host_directory = parse_host_directory(found, number);
        note(found, change(name.c_str(), is_host_directory));
        if (!is_host_directory) return 0;
        const int within = names_in(of.calls(), memory, of.directory(), name.c_str(), [&](std::string_view dropping) {
            const short_name path = short_name(found).add("/").add(dropping);
            note(path.view(), change(path.c_str(), false));
            return 0;
        });
        note(found, within);
        return 0;
    });
    note({}, listed);
    return first;
}

/// What those that may write the file write to, whoever they are. Of the rest each belongs to one writer.
bool is_written_by_all(std::string_view name) {
    return name == append_lock_name || name == times_name || name == punched_name;
}

}  // namespace

result<void> set_mode(container& of, mode_t mode) {
    if (auto ours = of.expect_ours(); !ours) return ours;
    file_calls& calls = of.calls();
    if (const int done = calls.set_mode_at(of.directory(), of.access_name(), mode & 07777); done != 0)
        return of.failed(of.access_name(), "cannot change its mode", -done);
    of.access_changed();
    const mode_t of_directories = directory_mode(mode);
    return for_all_parts(of, [&](const char* name, bool is_directory) {
        struct stat there {};
        if (const int found = calls.status_at(of.directory(), name, there); found != 0) return found;
        // Data on this node's disk are shut away, or shown, with the container. Those elsewhere stay as they are.
        const std::string_view last = std::string_view(name).substr(std::string_view(name).rfind('/') + 1);
        staged_mark mark;
        if (last.starts_with(staged_prefix) && mark.read(of, name) == 0)
            static_cast<void>(calls.set_mode_at(AT_FDCWD, mark.folder(), of_directories));
        // What is in the directories is closed by them. A group that they hand on stays.
        const mode_t of_file = mode & (is_written_by_all(name) ? 0666 : 0444);
        const mode_t wanted =
            is_directory ? of_directories | (there.st_mode & 07000) : (there.st_mode & 0777) | of_file;
        return (there.st_mode & 07777) == wanted ? 0 : calls.set_mode_at(of.directory(), name, wanted);
    });
}

result<void> set_owner(container& of, uid_t user, gid_t group) {
    if (auto ours = of.expect_ours(); !ours) return ours;
    const auto set = [&](const char* name) { return of.calls().set_owner_at(of.directory(), name, user, group); };
    if (const int done = set(of.access_name()); done != 0)
        return of.failed(of.access_name(), "cannot change its owner", -done);
    return for_all_parts(of, [&](const char* name, bool) { return set(name); });
}

}  // namespace halcyon::logfs
