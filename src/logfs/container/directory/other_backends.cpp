#include "logfs/container/directory/other_backends.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <span>

#include "base/crc32c.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

short_name other_name(uint64_t id, uint32_t number) {
    return short_name(other_directory_prefix).add(id).add(".").add(uint64_t{number});
}

int write_owner(file_calls& calls, int directory, uint64_t inode) {
    const int fd = calls.open_at(directory, owner_name.data(), O_WRONLY | O_CREAT | O_NOFOLLOW, 0644);
    if (fd < 0) return fd;
    const short_name text = short_name().add(inode);
    const int done = write_whole(calls, fd, std::as_bytes(std::span(text.c_str(), text.view().size())), 0);
    const int closed = calls.close(fd);
    // Whoever opens the container asks whose the directory is.
    if (done == 0) calls.set_mode_at(directory, owner_name.data(), 0644);
    return done != 0 ? done : closed;
}

/// False: nobody can tell. 0: it has none, or its maker was killed while it wrote that.
bool read_owner(file_calls& calls, int directory, uint64_t& inode) {
    inode = 0;
    const int fd = calls.open_at(directory, owner_name.data(), O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0) return fd == -ENOENT;
    char text[24] = {};
    const int64_t bytes = read_beginning(calls, fd, std::as_writable_bytes(std::span(text)));
    calls.close(fd);
    if (bytes > 0) std::from_chars(text, text + bytes, inode);
    return bytes >= 0;
}

/// All files in it go, but for the owner: it holds nothing else.
void remove_droppings(file_calls& calls, memory_source& memory, int directory) {
    // What is removed while it is listed may keep others from being listed.
    constexpr int most_rounds = 8;
    for (int round = 0; round < most_rounds; ++round) {
        bool is_empty = true;
        names_in(calls, memory, directory, ".", [&](std::string_view found) {
            if (found == owner_name) return 0;
            is_empty = false;
            calls.remove_at(directory, short_name(found).c_str(), false);
            return 0;
        });
        if (is_empty) return;
    }
}

/// Of a container with this inode, or of nobody. The owner goes last: who comes after a process that was killed
/// meanwhile still knows whose the rest is.
void remove_directory(file_calls& calls, memory_source& memory, const char* path, uint64_t inode) {
    const int directory = calls.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) return;
    uint64_t owner = 0;
    const bool is_known = read_owner(calls, directory, owner);
    if (is_known && owner == inode) remove_droppings(calls, memory, directory);
    if (is_known && (owner == inode || owner == 0)) calls.remove_at(directory, owner_name.data(), false);
    calls.close(directory);
    // Where it is another container's, it is not empty.
    calls.remove_at(AT_FDCWD, path, true);
}

/// Where a link of the container leads. False: it is none.
bool read_link(file_calls& calls, int container, const char* link, char (&target)[PATH_MAX]) {
    const int64_t length = calls.read_link_at(container, link, target, sizeof target - 1);
    target[std::max<int64_t>(length, 0)] = '\0';
    return length > 0;
}

/// A directory's own name is on the device: what lies in it is found behind a crash. The one above may be one that this
/// user cannot read.
int sync_name_of(file_calls& calls, int directory) {
    const int above = calls.open_at(directory, "..", O_RDONLY | O_DIRECTORY, 0);
    if (above < 0) return above == -EACCES ? 0 : above;
    const int done = calls.sync_names(above);
    calls.close(above);
    return done == -EIO ? -EIO : 0;
}

/// The directory, with its owner. -errno: it is not there, or not whole.
int make_directory(file_calls& calls, const char* path, mode_t mode, uint64_t inode) {
    const int made = calls.make_directory_at(AT_FDCWD, path, mode & 0777);
    if (made != 0 && made != -EEXIST) return made;
    const int directory = calls.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) return directory;
    if (made == 0) calls.set_mode_at(directory, ".", mode);
    int done = write_owner(calls, directory, inode);
    if (done == 0) done = calls.sync_names(directory) == -EIO ? -EIO : 0;
    if (done == 0) done = sync_name_of(calls, directory);
    calls.close(directory);
    return done;
}

}  // namespace

std::string_view backend_of(std::string_view list, uint32_t host_directory) {
    if (list.empty()) return {};
    const auto count = static_cast<uint32_t>(std::count(list.begin(), list.end(), ':')) + 1;
    for (uint32_t skipped = host_directory % count; skipped > 0; --skipped) list.remove_prefix(list.find(':') + 1);
    return list.substr(0, list.find(':'));
}

int make_other_directory(container& in, uint32_t number, std::string_view backend, mode_t mode) {
    file_calls& calls = in.calls();
    char path[PATH_MAX];
    const short_name name = other_name(in.id(), number);
    if (backend.size() + name.view().size() + 2 > sizeof path) return -ENAMETOOLONG;
    char* end = static_cast<char*>(mempcpy(path, backend.data(), backend.size()));
    *end++ = '/';
    std::memcpy(end, name.c_str(), name.view().size() + 1);
    struct stat of_container {};
    if (const int done = calls.status(in.directory(), of_container); done != 0) return done;
    const uint64_t backend_sum = crc32c(std::as_bytes(std::span(backend.data(), backend.size())));
    const short_name begun = short_name(begun_link_prefix).add(uint64_t{number}).add(".").add(backend_sum);
    int done = calls.make_link_at(path, in.directory(), begun.c_str());
    if (done != 0 && done != -EEXIST) return done;
    done = make_directory(calls, path, mode, of_container.st_ino);
    // Of several that come here each makes the same, unless their backends are others.
    const short_name link = host_directory_name(number);
    if (done == 0) done = calls.make_link_at(path, in.directory(), link.c_str());
    char target[PATH_MAX];
    struct stat there {};
    const bool leads_there = done == 0 || (done == -EEXIST && read_link(calls, in.directory(), link.c_str(), target) &&
                                           std::strcmp(target, path) == 0);
    if (leads_there || calls.status_at(AT_FDCWD, path, there) != 0)
        calls.remove_at(in.directory(), begun.c_str(), false);
    return done == -EEXIST ? 0 : done;
}

void remove_other_directories(file_calls& calls, int container, uint64_t id) {
    struct stat of_container {};
    if (calls.status(container, of_container) != 0) return;
    memory_source memory(calls);
    const short_name ours = short_name(other_directory_prefix).add(id).add(".");
    names_in(calls, memory, container, ".", [&](std::string_view found) {
        uint32_t number = 0;
        char target[PATH_MAX];
        if (!parse_host_directory(found, number) && !found.starts_with(begun_link_prefix)) return 0;
        if (!read_link(calls, container, short_name(found).c_str(), target)) return 0;
        const std::string_view to(target);
        if (to.substr(to.rfind('/') + 1).starts_with(ours.view()))
            remove_directory(calls, memory, target, of_container.st_ino);
        return 0;
    });
}

}  // namespace halcyon::logfs
