#include "logfs/container/directory/node_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {
namespace {

constexpr std::string_view usual_prefix = "/tmp/halcyon-logs-";
constexpr std::string_view new_suffix = ".new";
constexpr const char* lock_name = "lock";

/// Of this user, and nobody else may do anything with it.
bool is_own(const struct stat& what) {
    return what.st_uid == ::geteuid() && (what.st_mode & 077) == 0;
}

short_name new_name(const short_name& name) {
    return short_name(name.view()).add(new_suffix);
}

}  // namespace

short_name node_folder_named(std::string_view wish) {
    if (wish.empty()) return short_name(usual_prefix).add(uint64_t{::geteuid()});
    return wish == "none" ? short_name() : short_name(wish);
}

std::string_view wished_node_folder() {
    const char* const wish = std::getenv("HALCYON_LOG_INDEXES");
    return wish == nullptr ? "" : wish;
}

node_folder::~node_folder() {
    if (lock_ >= 0) calls_.close(lock_);
    if (directory_ >= 0) calls_.close(directory_);
}

int node_folder::open(std::string_view path, bool creates) {
    // A longer name would be cut off, and be that of something else.
    if (!path.starts_with('/') || path.size() >= short_name::room - 1) return -EINVAL;
    const short_name name(path);
    const int made = creates ? calls_.make_directory_at(AT_FDCWD, name.c_str(), 0700) : -EEXIST;
    if (made != 0 && made != -EEXIST) return made;
    const int fd = calls_.open_at(AT_FDCWD, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) return fd;
    struct stat there {};
    int done = calls_.status(fd, there);
    if (done == 0 && !is_own(there)) done = -EPERM;
    if (done == 0) {
        directory_ = fd;
        return 0;
    }
    calls_.close(fd);
    // A process may act for another user (fsuid), whose folder nobody would look into.
    if (made == 0) calls_.remove_at(AT_FDCWD, name.c_str(), true);
    return done;
}

int node_folder::name_of(file_calls& calls, int container, short_name& out) {
    struct stat there {};
    if (const int done = calls.status(container, there); done != 0) return done;
    out = short_name(index_prefix).add(uint64_t{there.st_dev}).add(".").add(uint64_t{there.st_ino});
    return 0;
}

int node_folder::open_file(const short_name& name, int64_t& bytes) {
    const int fd = calls_.open_at(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) return fd;
    struct stat there {};
    int done = calls_.status(fd, there);
    if (done == 0 && (!S_ISREG(there.st_mode) || !is_own(there) || there.st_nlink > 1)) done = -EPERM;
    bytes = there.st_size;
    if (done == 0) return fd;
    calls_.close(fd);
    return done;
}

void node_folder::remove(const short_name& name) {
    calls_.remove_at(directory_, name.c_str(), false);
}

int node_folder::open_locks(const char* name) {
    return calls_.open_at(directory_, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
}

void node_folder::drop_locks(const char* name, int fd) {
    struct stat here {};
    struct stat there {};
    if (calls_.status(fd, here) != 0 || calls_.status_at(directory_, name, there) != 0) return;
    if (here.st_dev == there.st_dev && here.st_ino == there.st_ino) calls_.remove_at(directory_, name, false);
}

int node_folder::begin_adding() {
    const int fd = open_locks(lock_name);
    if (fd < 0) return fd;
    const int locked = calls_.lock_part(fd, 0, 1, true, false);
    if (locked != 0) {
        calls_.close(fd);
        return locked;
    }
    lock_ = fd;
    return 0;
}

struct node_folder::entry {
    short_name name;
    int64_t bytes;
    timespec changed;

    [[nodiscard]] bool is_older_than(const entry& other) const {
        return changed.tv_sec != other.changed.tv_sec ? changed.tv_sec < other.changed.tv_sec
                                                      : changed.tv_nsec < other.changed.tv_nsec;
    }
};

bool node_folder::make_room(int64_t bytes, int64_t most_bytes) {
    page_array<entry> entries(memory_);
    int64_t used = 0;
    const int listed = names_in(calls_, memory_, directory_, ".", [&](std::string_view found) {
        if (!found.starts_with(index_prefix) || found.size() >= short_name::room) return 0;
        entry each{short_name(found), 0, {}};
        struct stat there {};
        if (calls_.status_at(directory_, each.name.c_str(), there) != 0) return 0;
        // Whoever adds something has the lock: nobody is at it.
        if (found.ends_with(new_suffix)) {
            remove(each.name);
            return 0;
        }
        each.bytes = there.st_size;
        each.changed = there.st_mtim;
        used += each.bytes;
        return entries.push(each) ? 0 : -ENOMEM;
    });
    if (listed != 0 || bytes > most_bytes) return false;
    std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) { return a.is_older_than(b); });
    for (const entry* each = entries.begin(); each != entries.end() && used > most_bytes - bytes; ++each) {
        remove(each->name);
        used -= each->bytes;
    }
    // The node needs the rest more than this.
    return bytes <= calls_.free_bytes(directory_) / 4;
}

int node_folder::create(const short_name& name) {
    drop(name);
    return calls_.open_at(directory_, new_name(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0400);
}

int node_folder::keep(const short_name& name) {
    const int done = calls_.rename_at(directory_, new_name(name).c_str(), directory_, name.c_str(), 0);
    if (done != 0) drop(name);
    return done;
}

void node_folder::drop(const short_name& name) {
    calls_.remove_at(directory_, new_name(name).c_str(), false);
}

void remove_node_index(file_calls& calls, std::string_view wish, int container) {
    const short_name folder = node_folder_named(wish);
    memory_source memory(calls);
    node_folder in(calls, memory);
    short_name name;
    if (in.open(folder.view(), false) == 0 && node_folder::name_of(calls, container, name) == 0) in.remove(name);
}

}  // namespace halcyon::logfs
