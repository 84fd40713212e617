#include "logfs/container/directory/other_backends.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <span>

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
    return done != 0 ? done : closed;
}

uint64_t read_owner(file_calls& calls, int directory) {
    const int fd = calls.open_at(directory, owner_name.data(), O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0) return 0;
    char text[24] = {};
    const int64_t bytes = read_whole(calls, fd, std::as_writable_bytes(std::span(text)), 0);
    calls.close(fd);
    uint64_t inode = 0;
    if (bytes > 0) std::from_chars(text, text + bytes, inode);
    return inode;
}

/// All files in it go: it holds nothing else.
void remove_files(file_calls& calls, memory_source& memory, int directory) {
    // What is removed while it is listed may keep others from being listed.
    constexpr int most_rounds = 8;
    for (int round = 0; round < most_rounds; ++round) {
        bool is_empty = true;
        names_in(calls, memory, directory, ".", [&](std::string_view found) {
            is_empty = false;
            calls.remove_at(directory, short_name(found).c_str(), false);
            return 0;
        });
        if (is_empty) return;
    }
}

void remove_linked(file_calls& calls, memory_source& memory, int container, const char* link, uint64_t inode) {
    char target[PATH_MAX];
    const int64_t length = calls.read_link_at(container, link, target, sizeof target - 1);
    if (length <= 0) return;
    target[length] = '\0';
    const int directory = calls.open_at(AT_FDCWD, target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) return;
    const bool is_ours = read_owner(calls, directory) == inode;
    if (is_ours) remove_files(calls, memory, directory);
    calls.close(directory);
    if (is_ours) calls.remove_at(AT_FDCWD, target, true);
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
    const int made = calls.make_directory_at(AT_FDCWD, path, mode & 0777);
    if (made != 0 && made != -EEXIST) return made;
    const int directory = calls.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) return directory;
    if (made == 0) calls.set_mode_at(directory, ".", mode);
    int done = write_owner(calls, directory, of_container.st_ino);
    // Of several that come here each writes the same.
    if (done == 0) done = calls.make_link_at(path, in.directory(), host_directory_name(number).c_str());
    if (done == 0) done = calls.sync_names(directory) == -EIO ? -EIO : 0;
    calls.close(directory);
    return done == -EEXIST ? 0 : done;
}

void remove_other_directories(file_calls& calls, int container, uint64_t id) {
    struct stat of_container {};
    if (calls.status(container, of_container) != 0) return;
    memory_source memory(calls);
    names_in(calls, memory, container, ".", [&](std::string_view found) {
        uint32_t number = 0;
        if (!parse_host_directory(found, number)) return 0;
        char target[PATH_MAX];
        const short_name link(found);
        const int64_t length = calls.read_link_at(container, link.c_str(), target, sizeof target);
        if (length <= 0) return 0;
        const std::string_view to(target, static_cast<size_t>(length));
        if (to.substr(to.rfind('/') + 1) == other_name(id, number).view())
            remove_linked(calls, memory, container, link.c_str(), of_container.st_ino);
        return 0;
    });
}

}  // namespace halcyon::logfs
