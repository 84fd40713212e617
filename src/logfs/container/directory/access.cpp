#include "logfs/container/directory/access.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

/// Calls `change(directory, name, whole)`, which returns -errno, for all in the container but its marker: its directory
/// first, then each host directory before what is in it. `name` is relative to `directory`, a descriptor, and holds no
/// folder; "." is the directory itself. `whole` is the name in the container. All are tried; the first failure is
/// returned.
template <class Change>
result<void> for_all_parts(container& of, Change change) {
    file_calls& calls = of.calls();
    memory_source memory(calls);
    result<void> first;
    const auto note = [&](std::string_view name, int done) {
        if (done < 0 && done != -ENOENT && first.ok()) first = of.failed(name, "cannot change its access", -done);
    };
    const auto within = [&](const short_name& folder) {
        // By what it is, and not by its name a second time, which may be another directory's by then.
        const int directory = calls.open_at(of.directory(), short_name(folder.view()).add("/.").c_str(), O_PATH, 0);
        if (directory < 0) return directory;
        note(folder.view(), change(directory, ".", folder));
        const int listed = names_in(calls, memory, directory, ".", [&](std::string_view dropping) {
            const short_name whole = short_name(folder.view()).add("/").add(dropping);
            note(whole.view(), change(directory, short_name(dropping).c_str(), whole));
            return 0;
        });
        calls.close(directory);
        return listed;
    };
    note({}, change(of.directory(), ".", short_name()));
    const int listed = names_in(calls, memory, of.directory(), ".", [&](std::string_view found) {
        const short_name name(found);
        if (found == marker_name) return 0;
        uint32_t number = 0;
        note(found, parse_host_directory(found, number) ? within(name) : change(of.directory(), name.c_str(), name));
        return 0;
    });
    note({}, listed);
    return first;
}

/// A folder on the node's disk, where it is of the user who wrote the mark that names it: who may write one may name
/// any.
void set_mode_of_stage(file_calls& calls, const char* folder, uid_t user, mode_t mode) {
    const int fd = calls.open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) return;
    struct stat its {};
    if (calls.status(fd, its) == 0 && its.st_uid == user) calls.set_mode(fd, mode);
    calls.close(fd);
}

/// What those that may write the file write to, whoever they are. Of the rest each belongs to one writer.
bool is_written_by_all(std::string_view name) {
    return name == append_lock_name || name == times_name || name == punched_name || name == descriptor_name;
}

}  // namespace

result<void> set_mode(container& of, mode_t mode) {
    if (auto ours = of.expect_ours(); !ours) return ours;
    file_calls& calls = of.calls();
    if (const int done = calls.set_mode_at(of.directory(), of.access_name(), mode & 07777); done != 0)
        return of.failed(of.access_name(), "cannot change its mode", -done);
    of.access_changed();
    const mode_t of_directories = directory_mode(mode);
    return for_all_parts(of, [&](int directory, const char* name, const short_name& whole) {
        struct stat there {};
        if (const int found = calls.status_at(directory, name, there); found != 0) return found;
        if (S_ISLNK(there.st_mode)) return 0;
        // Data on this node's disk are shut away, or shown, with the container. Those elsewhere stay as they are.
        staged_mark mark;
        if (std::string_view(name).starts_with(staged_prefix) && mark.read(of, whole.view()) == 0)
            set_mode_of_stage(calls, mark.folder(), there.st_uid, of_directories);
        // What only writers write is closed by the directories. A group that these hand on stays.
        const bool is_shared = is_written_by_all(name);
        const mode_t of_file = (mode & (is_shared ? 0666 : 0444)) | (there.st_mode & (is_shared ? 0700 : 0777));
        const mode_t wanted = S_ISDIR(there.st_mode) ? of_directories | (there.st_mode & 07000) : of_file;
        if ((there.st_mode & 07777) == wanted) return 0;
        const int done = calls.set_mode_at(directory, name, wanted);
        // Another user's, which stays open to more than it should be.
        return done == -EPERM && (wanted & ~there.st_mode) == 0 ? 0 : done;
    });
}

result<void> set_owner(container& of, uid_t user, gid_t group) {
    if (auto ours = of.expect_ours(); !ours) return ours;
    const auto set = [&](int directory, const char* name) {
        return of.calls().set_owner_at(directory, name, user, group);
    };
    if (const int done = set(of.directory(), of.access_name()); done != 0)
        return of.failed(of.access_name(), "cannot change its owner", -done);
    return for_all_parts(of, [&](int directory, const char* name, const short_name& whole) {
        // Data on this node's disk go with their mark, and those elsewhere stay as they are.
        struct stat before {};
        struct stat data {};
        staged_mark mark;
        char path[staged_path_room] = {};
        if (std::string_view(name).starts_with(staged_prefix) && mark.read(of, whole.view()) == 0 &&
            of.calls().status_at(directory, name, before) == 0)
            mark.path_of(whole.view(), path, sizeof path);
        const int done = set(directory, name);
        if (done == 0 && path[0] != '\0' && of.calls().status_at(AT_FDCWD, path, data) == 0 &&
            data.st_uid == before.st_uid)
            static_cast<void>(set(AT_FDCWD, path));
        return done;
    });
}

}  // namespace halcyon::logfs
