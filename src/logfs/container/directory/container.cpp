#include "logfs/container/directory/container.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <span>

#include "logfs/container/directory/access.hpp"
#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/directory/marking.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/rare_number.hpp"
#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/format/plfs_format.hpp"

namespace halcyon::logfs {

bool container::keep_path(std::string_view path) {
    path_.clear();
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return path_.append({path.data(), path.size()}) && path_.push('\0');
}

result<void> container::create(std::string_view path, mode_t mode, uint32_t host_directories) {
    close();
    if (host_directories == 0 || host_directories > most_host_directories)
        return failure{error_kind::usage,
                       std::string(path) + ": " + std::to_string(host_directories) +
                           " host directories; a container has 1 to " + std::to_string(most_host_directories),
                       0};
    if (!keep_path(path)) return system_failure(std::string(path), ENOMEM);
    marker_ = {format_version, host_directories, rare_number(this)};
    const int done = is_renamed_whole() ? create_beside(mode) : make(path_.data(), mode, begun_mode);
    if (done == 0) return {};
    failure why = failed({}, "cannot create", -done);
    close();
    return why;
}

/// What a file system is, is asked once.
bool container::is_renamed_whole() {
    page_array<char> folder(memory_);
    const size_t size = this->path().rfind('/') + 1;
    struct stat there {};
    if (!folder.append({path_.data(), size}) || !folder.append({".", 2}) ||
        calls_.status_at(AT_FDCWD, folder.data(), there) != 0)
        return true;
    const uint64_t whole = uint64_t{there.st_dev} << 1 | 1, in_parts = whole ^ 1;
    const uint64_t known = calls_.renames_known.load(std::memory_order_relaxed);
    if (known == whole || known == in_parts) return known == whole;
    const int fd = calls_.open_at(AT_FDCWD, folder.data(), O_PATH | O_DIRECTORY, 0);
    if (fd < 0) return true;
    const bool is_whole = has_whole_renames(calls_.file_system(fd));
    calls_.close(fd);
    calls_.renames_known.store(is_whole ? whole : in_parts, std::memory_order_relaxed);
    return is_whole;
}

/// Under another name first.
int container::create_beside(mode_t mode) {
    page_array<char> beside(memory_);
    const short_name begun = short_name(begun_prefix).add(marker_.id);
    const std::string_view folder = this->path().substr(0, this->path().rfind('/') + 1);
    if (!beside.append({folder.data(), folder.size()}) || !beside.append({begun.c_str(), begun.view().size() + 1}))
        return -ENOMEM;
    int done = make(beside.data(), mode, 0);
    if (done == 0) done = give_its_name(beside.data());
    if (done != 0 && directory_ >= 0) unmake(beside.data());
    return done;
}

/// Nothing of it stays where it fails. `until_made`: bits of its mode that go when it has its marker.
int container::make(const char* path, mode_t mode, mode_t until_made) {
    int done = calls_.make_directory_at(AT_FDCWD, path, directory_mode(mode) | until_made);
    if (done != 0) return done;
    struct stat made {};
    done = calls_.status_at(AT_FDCWD, path, made);
    // A umask may keep its owner out of it.
    if (done == 0 && (made.st_mode & 0700) != 0700)
        done = calls_.set_mode_at(AT_FDCWD, path, (made.st_mode & 07777) | 0700);
    if (done == 0) directory_ = calls_.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (done == 0) done = directory_ < 0 ? directory_ : create_marker(directory_, mode);
    // What the umask left of the file's mode says what the directory's is.
    const mode_t wanted = directory_mode(mode) | (made.st_mode & 07000 & ~until_made);
    if (done == 0 && (made.st_mode & 07777) != wanted) done = calls_.set_mode_at(directory_, ".", wanted);
    if (done != 0) unmake(path);
    return done;
}

void container::unmake(const char* path) {
    if (directory_ >= 0) calls_.remove_at(directory_, marker_name.data(), false);
    calls_.remove_at(AT_FDCWD, path, true);
    close();
}

int container::give_its_name(const char* begun) {
    const int done = calls_.rename_at(AT_FDCWD, begun, AT_FDCWD, path_.data(), RENAME_NOREPLACE);
    if (done != -EINVAL) return done;
    // A file system that cannot promise it (NFS, Lustre). A directory takes the place of an empty one only, and no
    // container is empty: of several that come here one succeeds.
    struct stat there {};
    const int found = calls_.status_at(AT_FDCWD, path_.data(), there);
    if (found != -ENOENT) return found == 0 ? -EEXIST : found;
    const int renamed = calls_.rename_at(AT_FDCWD, begun, AT_FDCWD, path_.data(), 0);
    return renamed == -ENOTEMPTY || renamed == -ENOTDIR ? -EEXIST : renamed;
}

/// `mode` becomes what it is in the end.
int container::create_marker(int directory, mode_t& mode) {
    char text[marker::room];
    const size_t size = marker_.write(text);
    const int fd = calls_.open_at(directory, marker_name.data(), O_WRONLY | O_CREAT | O_EXCL, mode & 07777);
    if (fd < 0) return fd;
    struct stat made {};
    int done = calls_.status(fd, made);
    if (done == 0) done = write_whole(calls_, fd, std::as_bytes(std::span(text, size)), 0);
    // The write has taken them off.
    if (done == 0 && (made.st_mode & (S_ISUID | S_ISGID)) != 0) done = calls_.set_mode(fd, made.st_mode & 07777);
    const int closed = calls_.close(fd);
    mode = made.st_mode & 07777;
    return done != 0 ? done : closed;
}

result<void> container::open(std::string_view path) {
    close();
    if (!keep_path(path)) return system_failure(std::string(path), ENOMEM);
    const int opened = calls_.open_at(AT_FDCWD, path_.data(), O_RDONLY | O_DIRECTORY, 0);
    if (opened == -ENOTDIR) return failure{error_kind::usage, full({}) + ": a file, no log container", ENOTDIR};
    if (opened < 0) return failed({}, "cannot open", -opened);
    directory_ = opened;
    auto read = read_marker();
    if (!read) close();
    return read;
}

/// How many bytes; -errno.
int64_t container::read_marker_text(std::span<char> out) {
    const int fd = calls_.open_at(directory_, marker_name.data(), marker_flags, 0);
    if (fd < 0) return fd;
    const int64_t bytes = read_beginning(calls_, fd, std::as_writable_bytes(out));
    calls_.close(fd);
    return bytes;
}

result<void> container::read_marker() {
    char text[marker::room];
    int64_t bytes = read_marker_text(text);
    // Somebody is about to write it.
    if (bytes == 0 && becomes_container(calls_, directory_, ".")) bytes = read_marker_text(text);
    const std::string_view read(text, bytes < 0 ? 0 : static_cast<size_t>(bytes));
    const marker::reading found = marker::read(read, marker_);
    if (found == marker::reading::whole) return {};
    switch (marking_of(calls_, directory_, ".")) {
        case marking::plfs:
            return take_plfs();
        case marking::none:
            return no_container(bytes >= 0);
        case marking::ours:
            break;
    }
    if (bytes < 0) return failed(marker_name, "cannot read", static_cast<int>(-bytes));
    if (found == marker::reading::other_version)
        return damaged(marker_name, "format version " + std::to_string(marker_.version) +
                                        "; this release reads version " + std::to_string(format_version));
    return damaged(marker_name, "damaged: its text does not fit its check sum");
}

result<void> container::take_plfs() {
    struct stat there {};
    if (const int done = calls_.status_at(directory_, plfs_access_name.data(), there); done != 0)
        return failed(plfs_access_name, "cannot look at", -done);
    is_plfs_ = true;
    marker_ = {};
    marker_.id = there.st_ino;
    return {};
}

failure container::no_container(bool has_text) const {
    const std::string name(marker_name);
    return {error_kind::usage,
            full({}) + ": a directory, no log container: " +
                (has_text ? "its file " + name + " is no marker of one" : "it has no file " + name),
            EISDIR};
}

result<void> container::expect_ours() const {
    if (!is_plfs_) return {};
    return failure{error_kind::usage,
                   full({}) + ": a container of PLFS, which can only be read; 'halcyon log flatten' makes a file of it",
                   EROFS};
}

const char* container::access_name() const {
    return is_plfs_ ? plfs_access_name.data() : marker_name.data();
}

bool container::is_at(file_calls& calls, std::string_view path) {
    container candidate(calls);
    if (!candidate.keep_path(path)) return false;
    const int fd = calls.open_at(AT_FDCWD, candidate.path_.data(), O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return false;
    const bool found = marking_of(calls, fd, ".") != marking::none;
    calls.close(fd);
    return found;
}

void container::close() {
    if (directory_ >= 0) calls_.close(directory_);
    directory_ = -1;
    mode_ = 0;
    is_seen_late_ = -1;
    is_plfs_ = false;
}

bool container::is_seen_late() {
    if (is_seen_late_ < 0) is_seen_late_ = logfs::is_seen_late(calls_.file_system(directory_)) ? 1 : 0;
    return is_seen_late_ != 0;
}

int container::make_host_directory(uint32_t number) {
    if (is_plfs_) return -EROFS;
    struct stat of_container {};
    if (const int done = calls_.status(directory_, of_container); done != 0) return done;
    mode_ = of_container.st_mode & 07777;
    const short_name name = host_directory_name(number);
    if (has_other_backends()) {
        struct stat there {};
        if (calls_.status_at(directory_, name.c_str(), there) == 0) return 0;
        // Where another backend takes nothing, the container does.
        if (make_other_directory(*this, number, backend_of(backends_, number), mode_) == 0) return 0;
    }
    const int done = calls_.make_directory_at(directory_, name.c_str(), mode_ & 0777);
    // What the umask took comes back: without it, nobody else could read the container any more.
    if (done == 0) calls_.set_mode_at(directory_, name.c_str(), mode_);
    return done == -EEXIST ? 0 : done;
}

void container::share(const char* name, mode_t access) {
    struct stat file {};
    if (mode_ == 0 && calls_.status(directory_, file) == 0) mode_ = file.st_mode & 07777;
    if (calls_.status_at(directory_, name, file) != 0) return;
    mode_t wanted = (file.st_mode & 0777) | (mode_ & access);
    if ((access & 0222) != 0) wanted &= 0700 | mode_;
    if ((file.st_mode & 0777) != wanted) calls_.set_mode_at(directory_, name, wanted);
}

/// Where a file system keeps no such mode, lost indexes look like those of a crash.
void container::note_index_named(const char* data_name) {
    struct stat file {};
    if (calls_.status_at(directory_, data_name, file) != 0 || (file.st_mode & index_named) != 0) return;
    calls_.set_mode_at(directory_, data_name, (file.st_mode & 07777) | index_named);
}

int container::sync() {
    // What its marker says is not on the device only because its name is, and who created it may never sync.
    const int fd = calls_.open_at(directory_, marker_name.data(), O_RDONLY, 0);
    if (fd < 0 && fd != -EACCES) return fd;
    if (fd >= 0) {
        const int done = calls_.sync(fd);
        calls_.close(fd);
        if (done != 0) return done;
    }
    for (const char* const each : {".", ".."}) {
        // The directory above may be one that this user cannot read.
        if (const int done = sync_directory(each); done != 0 && done != -EACCES) return done;
    }
    return 0;
}

int container::sync(uint32_t host_directory) {
    const int done = sync_directory(host_directory_name(host_directory).c_str());
    return done != 0 ? done : sync();
}

int container::sync_directory(const char* name) {
    const int fd = calls_.open_at(directory_, name, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return fd;
    const int done = calls_.sync_names(fd);
    calls_.close(fd);
    return done == -EINVAL ? 0 : done;  // a file system whose names are as durable as they get
}

std::string container::full(std::string_view name) const {
    std::string all(path());
    if (!name.empty()) all.append("/").append(name);
    return all;
}

failure container::failed(std::string_view name, std::string_view what, int error) const {
    return system_failure(full(name) + ": " + std::string(what), error);
}

failure container::damaged(std::string_view name, std::string_view what) const {
    return {error_kind::config, full(name) + ": " + std::string(what), EIO};
}

}  // namespace halcyon::logfs
