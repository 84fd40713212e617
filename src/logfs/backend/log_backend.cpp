// log_backend: what it opens, and descriptors.
#include "logfs/backend/log_backend.hpp"

#include <fcntl.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "calls/backends/backend_files.hpp"
#include "calls/backends/hidden_descriptors.hpp"
#include "calls/backends/kept_access.hpp"
#include "calls/state/direct_call.hpp"
#include "logfs/backend/backend_state.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/node_use.hpp"
#include "logfs/backend/remove_tree.hpp"
#include "logfs/backend/shown_calls.hpp"
#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/directory/marking.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/reading/hashed_numbers.hpp"

namespace halcyon::logfs {

constinit node_settings state::settings{};
constinit log_nodes state::nodes{};
constinit open_handles state::handles{};

namespace {

namespace direct = calls::direct;
using calls::call_id;

constexpr int most_mounts = 8;
constinit const log_backend* started[most_mounts] = {};

/// What reaches the descriptor past the wrappers gets errors. That of a directory is one for everything: read (EISDIR),
/// write (EBADF), mmap (ENODEV), and whoever opens it once more by its name in /proc has a directory again. But where a
/// file system is of several nodes, a lock of a directory (flock) would hold on one of them: there it is the empty
/// file, which is never open for reading if the application may read. (The kernel locks no file that is open for
/// neither.)
int open_for_application(log_node& of, int flags) {
    const int directory = of.file().of().directory();
    const int kept = flags & (O_APPEND | O_NONBLOCK | O_CLOEXEC | O_SYNC);  // O_DSYNC is a part of it
    if (!of.locks_directories() && !of.is_plfs()) {
        const int access = (flags & O_ACCMODE) == O_WRONLY ? O_RDONLY : O_WRONLY;
        const int fd = open_placeholder(directory, access | kept);
        if (fd >= 0 || fd == -EMFILE || fd == -ENFILE) return fd;  // else nothing can be put there
    }
    return static_cast<int>(shown::opened(directory, ".", O_RDONLY | kept, [&] {
        return direct::call(SYS_openat, directory, direct::address("."), O_RDONLY | kept);
    }));
}

int64_t bound_of_clock_ns() {
    constexpr int64_t undisciplined_ns = 16'000'000'000;
    timex now{};
    if (direct::call(SYS_adjtimex, direct::address(&now)) < 0) return undisciplined_ns;
    return std::min(int64_t{now.maxerror} * 1000, undisciplined_ns);
}

void read_boot_id(char* out, size_t room) {
    const int fd = direct::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    constexpr size_t digits = 36;
    if (direct::read(fd, out, std::min(digits, room - 1)) < 0) out[0] = '\0';
    direct::close(fd);
}

bool is_below(std::string_view path, std::string_view root) {
    return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

bool is_below_any(std::string_view path) {
    return std::any_of(std::begin(started), std::end(started),
                       [&](const log_backend* each) { return each != nullptr && is_below(path, each->root()); });
}

/// Whether the user may open the file so: its marker says.
int expect_access(int container, bool is_plfs, int flags) {
    if ((flags & O_PATH) != 0) return 0;
    const bool cuts = (flags & O_TRUNC) != 0;
    const int access = cuts && (flags & O_ACCMODE) == O_RDONLY ? O_RDWR : flags & O_ACCMODE;
    if (is_plfs && access != O_RDONLY) return -EROFS;
    const std::string_view name = is_plfs ? plfs_access_name : marker_name;
    const auto fd = static_cast<int>(shown::opened(container, name.data(), access, [&] {
        return direct::call(SYS_openat, container, direct::address(name.data()), access | O_NOFOLLOW | O_CLOEXEC);
    }));
    if (fd >= 0) shown::close(fd);
    return fd < 0 ? fd : 0;
}

/// The directory of the container that a descriptor stands for, which the kernel calls so; -EBADF: it stands for none.
int open_container_of(int fd, std::string_view folder, bool is_file) {
    struct stat here {};
    struct stat there {};
    if (direct_files().status(fd, here) != 0 || (is_file ? !S_ISREG(here.st_mode) : !S_ISDIR(here.st_mode)))
        return -EBADF;
    const char* const name = is_file ? descriptor_name.data() : ".";
    const int container = direct_files().open_at(AT_FDCWD, folder.data(), O_RDONLY | O_DIRECTORY, 0);
    if (container < 0) return -EBADF;
    const bool is_it = direct_files().status_at(container, name, there) == 0 && there.st_ino == here.st_ino &&
                       there.st_dev == here.st_dev && is_container(container, ".");
    if (is_it) return container;
    direct_files().close(container);
    return -EBADF;
}

}  // namespace

void start_backends(const backend_settings& how) {
    node_settings& all = state::settings;
    std::string_view host = how.host;
    utsname here{};
    if (host.empty()) {
        direct::call(SYS_uname, direct::address(&here));
        host = here.nodename;
    }
    std::memcpy(all.who.host, host.data(), std::min(host.size(), sizeof all.who.host - 1));
    read_boot_id(all.who.boot_id, sizeof all.who.boot_id);
    all.who.rank = how.rank;
    all.writing.stage = how.staging.stage;
    stage_agent::configure(how.staging);
    all.backends = how.backends;
    all.index_folder = how.index_folder;
    all.most_mapped_bytes = how.most_mapped_bytes;
    all.writing.shares_with_node = how.has_logs_of_nodes;
    all.writing.has_data_checks = all.reading.verifies_data = how.has_data_checks;
    all.who.clock_bound_ns = bound_of_clock_ns();
    calls::hidden_descriptors::start();
    constexpr int few = 16;
    all.reading.most_descriptors = static_cast<uint32_t>(std::clamp(calls::hidden_descriptors::room() / 4, few, 256));
    state::nodes.start(all);
    direct_files();
}

int log_backend::start(const char* directory) {
    const int fd = direct::open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fd;
    root_length_ = direct::path_of(fd, root_, sizeof root_);
    direct::close(fd);
    if (root_length_ < 2) return -ENOENT;
    const whole_path here("", root_);
    found what;
    if (const int failed = here.look(true, what); failed != 0) return failed;
    if (what.is != kind::directory) return -ENOTDIR;
    const auto free = std::find(std::begin(started), std::end(started), nullptr);
    if (free != std::end(started)) *free = this;
    return 0;
}

bool log_backend::answers(const char* path) {
    const whole_path at(root(), path);
    struct stat there {};
    const int64_t failed = shown::named(call_id::log_stat, AT_FDCWD, at.c_str(), [&] {
        return direct::call(SYS_newfstatat, AT_FDCWD, direct::address(at.c_str()), direct::address(&there), 0);
    });
    if (failed != 0) {
        if (failed == -ENOENT) missing_.store(hash_of(at.view()), std::memory_order_relaxed);
        return true;
    }
    return S_ISDIR(there.st_mode) || (at.may_be_inside() && at.is_inside());
}

// --- opening ---

int log_backend::open(const char* path, int flags, unsigned mode, handle& opened) {
    const calls::blocked_signals whole;
    constexpr int of_path = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if ((flags & O_PATH) != 0) flags &= of_path;
    whole_path at(root(), path);
    if ((flags & O_TMPFILE) == O_TMPFILE) return create_nameless(at, flags, mode & 07777, opened);
    if ((flags & O_CREAT) != 0 && (flags & O_DIRECTORY) != 0) return -EINVAL;
    // Each look at what is not there takes long on file systems of several nodes; a creation finds what is there after
    // all. The mark may be another thread's.
    if ((flags & O_CREAT) != 0 && missing_.exchange(0, std::memory_order_relaxed) == hash_of(at.view())) {
        if (at.is_inside()) return -ENOTDIR;
        const int done = create(at, flags, mode & 07777, opened);
        if (done != -ESTALE) return done;
    }
    // Others may create, rename and remove it meanwhile; a chain of links is followed one by one.
    constexpr int most_tries = 40;
    for (int tries = 0; tries < most_tries; ++tries) {
        const int done = open_there(at, flags, mode & 07777, opened);
        if (done == -EREMOTE) {
            if (const int failed = at.follow_link(); failed != 0) return failed;
        } else if (done != -ESTALE) {
            return done;
        }
    }
    return -ELOOP;
}

/// -ESTALE: it has changed meanwhile, try again. -EREMOTE: it is a link to where something is to be created.
int log_backend::open_there(const whole_path& at, int flags, mode_t mode, handle& opened) {
    const bool creates = (flags & O_CREAT) != 0;
    const bool is_exclusive = creates && (flags & O_EXCL) != 0;
    const bool follows = (flags & O_NOFOLLOW) == 0 && !is_exclusive;
    const int fd = direct_files().open_at(AT_FDCWD, at.c_str(), O_RDONLY | O_DIRECTORY | (follows ? 0 : O_NOFOLLOW), 0);
    if (fd >= 0) {
        int done = -ENOTDIR;
        if (!at.may_be_inside() || !at.is_inside()) {
            const bool must_be_directory = (flags & O_DIRECTORY) != 0;
            const marking by = (must_be_directory ? marking_of : likely_marking_of)(direct_files(), fd, ".");
            done = by == marking::none ? -EISDIR : open_container(fd, by == marking::plfs, at, flags, opened);
            const bool may_become_one = done == -EISDIR && creates && !is_exclusive;
            if (may_become_one && becomes_container(direct_files(), fd, ".")) done = -ESTALE;
            if (done == -EISDIR) return open_directory(fd, flags, opened);
        }
        direct_files().close(fd);
        return done;
    }
    if (fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP) return fd;
    found there;
    const int looked = at.look(false, there);
    if (looked == -ENOENT) return creates ? create(at, flags, mode, opened) : -ENOENT;
    if (looked != 0) return looked;
    if (is_exclusive) return -EEXIST;
    if (S_ISLNK(there.state.st_mode)) {
        if (!follows) return (flags & O_DIRECTORY) != 0 ? -ENOTDIR : -ELOOP;
        return fd == -ENOENT && creates ? -EREMOTE : fd;
    }
    if ((flags & O_DIRECTORY) != 0 && there.is == kind::other) return -ENOTDIR;
    return there.is == kind::other ? -EBUSY : -ESTALE;
}

/// `fd` is taken.
int log_backend::open_directory(int fd, int flags, handle& opened) {
    int failed = 0;
    if ((flags & O_CREAT) != 0)
        failed = (flags & O_EXCL) != 0 ? -EEXIST : -EISDIR;
    else if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0)
        failed = -EISDIR;
    opened = failed != 0 ? 0 : state::handles.add(nullptr, fd, flags);
    if (opened != 0) return 0;
    direct_files().close(fd);
    return failed != 0 ? failed : -ENFILE;
}

/// -EISDIR: it is none.
int log_backend::open_container(int fd, bool is_plfs, const whole_path& at, int flags, handle& opened) {
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return -EEXIST;
    if ((flags & O_DIRECTORY) != 0) return -ENOTDIR;
    if (const int failed = expect_access(fd, is_plfs, flags); failed != 0) return failed;
    log_nodes::taken found;
    const int failed = state::nodes.take(fd, at.c_str(), found);
    if (failed == -ENOENT) return -ESTALE;
    return failed != 0 ? failed : finish(found, flags, opened);
}

int log_backend::create(const whole_path& at, int flags, mode_t mode, handle& opened) {
    log_node* node = nullptr;
    const int failed = state::nodes.create(at.c_str(), mode, node);
    if (failed == -EEXIST) return (flags & O_EXCL) != 0 ? -EEXIST : -ESTALE;
    if (failed != 0) return failed;
    return finish({node, true}, flags & ~O_TRUNC, opened);
}

/// O_TMPFILE: created as what was removed already. It cannot be given a name.
int log_backend::create_nameless(const whole_path& folder, int flags, mode_t mode, handle& opened) {
    if ((flags & O_ACCMODE) == O_RDONLY) return -EINVAL;
    found there;
    if (const int failed = folder.look(true, there); failed != 0) return failed;
    if (there.is != kind::directory) return -ENOTDIR;
    const whole_path at(root(), removed_name().c_str());
    constexpr int temporary = O_TMPFILE | O_EXCL;
    return create(at, (flags & ~temporary) | O_EXCL, mode, opened);
}

/// The node has one more user: what becomes `opened`, or nobody.
int log_backend::finish(const log_nodes::taken& what, int flags, handle& opened) {
    log_node& node = *what.node;
    const bool cuts = (flags & O_TRUNC) != 0 && (flags & O_PATH) == 0;
    const auto failed = static_cast<int>(with_ready(node, [&](log_node& of) -> int64_t {
        if (!what.is_up_to_date) {
            if (const auto fresh = of.file().refresh(); !fresh) return error_of(fresh.why());
        }
        if (!cuts) return 0;
        const auto size = of.file().size();
        if (!size) return error_of(size.why());
        if (*size == 0) return of.publish();
        of.has_unpublished = true;
        const int cut = error_of(of.file().truncate(0));
        return cut != 0 ? cut : of.publish();
    }));
    opened = failed != 0 ? 0 : state::handles.add(&node, -1, flags);
    if (opened != 0) return 0;
    state::nodes.release(node);
    return failed != 0 ? failed : -ENFILE;
}

int log_backend::open_again(handle opened, int flags, handle& again) {
    const calls::blocked_signals whole;
    const open_handle& now = state::handles.of(opened);
    log_node* const node = now.node;
    if (node == nullptr) {
        const int fd = direct_files().open_at(now.directory, ".", O_RDONLY | O_DIRECTORY, 0);
        return fd < 0 ? fd : open_directory(fd, flags, again);
    }
    if ((flags & O_DIRECTORY) != 0) return -ENOTDIR;
    if (!state::nodes.share(*node, opened)) return -EBADF;
    const int64_t failed = with_ready(
        *node, [&](log_node& of) -> int64_t { return expect_access(of.file().of().directory(), of.is_plfs(), flags); });
    if (failed == 0) return finish({node, false}, flags, again);
    state::nodes.release(*node);
    return static_cast<int>(failed);
}

void log_backend::close(handle opened) {
    const calls::blocked_signals whole;
    log_node* const node = state::handles.of(opened).node;
    const bool wrote = (state::handles.of(opened).flags & O_ACCMODE) != O_RDONLY;
    state::handles.drop(opened);
    if (node == nullptr) return;
    with_held(*node, [&](log_node& of) -> int64_t {
        if (wrote) {
            static_cast<void>(of.publish());
            of.look_for_past_writes();
        }
        if (node->has_record_locks) {  // whatever else of the process has the file open
            struct flock all {};
            all.l_type = F_UNLCK;
            const int fd = of.placeholder();
            if (fd >= 0)
                shown::on(call_id::log_unlock, fd,
                          [&] { return direct::call(SYS_fcntl, fd, F_SETLK, direct::address(&all)); });
            node->has_record_locks = false;
        }
        return 0;
    });
    state::nodes.release(*node);
}

// --- descriptors ---

int log_backend::descriptor_of(handle opened, int flags) {
    const calls::blocked_signals whole;
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr)
        return static_cast<int>(shown::opened(file.directory, ".", O_RDONLY | O_DIRECTORY, [&] {
            return direct::call(SYS_openat, file.directory, direct::address("."),
                                O_RDONLY | O_DIRECTORY | (flags & (O_CLOEXEC | O_NONBLOCK)));
        }));
    return static_cast<int>(with_open_node(*node, opened, [&](log_node& of) -> int64_t {
        const int fd = open_for_application(of, flags);
        // Else no other program can be given the descriptor.
        if (fd < 0) return fd == -EMFILE || fd == -ENFILE ? fd : -ENOSYS;
        calls::backends::keep_access(fd, flags);
        return fd;
    }));
}

int log_backend::adopt_descriptor(int fd, const char* name, handle& opened, int& access) {
    const std::string_view all(name);
    const calls::blocked_signals whole;
    access = calls::backends::kept_access(fd);
    const bool is_placeholder = access >= 0;
    // A container that was moved away is the first one's.
    const bool is_away = is_placeholder && started[0] == this && !is_below_any(all);
    if (!is_below(all, root()) && !is_away) return -EBADF;
    if (!is_placeholder) {
        struct stat here {};
        if (direct_files().status(fd, here) != 0 || !S_ISDIR(here.st_mode) || is_container(fd, ".")) return -EBADF;
        const whole_path at(root(), all.size() == root_length_ ? "/" : name + root_length_);
        if (at.may_be_inside() && at.is_inside()) return -EBADF;
        const int own = direct_files().open_at(fd, ".", O_RDONLY | O_DIRECTORY, 0);
        access = O_RDONLY;
        return own < 0 ? -EBADF : open_directory(own, O_RDONLY, opened);
    }
    const bool is_file = without_placeholder(all) != all;
    const std::string_view folder = without_placeholder(all);
    char path[PATH_MAX];
    if (folder.size() >= sizeof path) return -EBADF;
    std::memcpy(path, folder.data(), folder.size());
    path[folder.size()] = '\0';
    const int container = open_container_of(fd, path, is_file);
    if (container < 0) return -EBADF;
    log_nodes::taken found;
    const int failed = state::nodes.take(container, path, found);
    direct_files().close(container);
    if (failed != 0) return -EBADF;
    const int status = direct::flags_of(fd);
    return finish(found, access | (status & (O_APPEND | O_SYNC | O_DSYNC)), opened);
}

ssize_t log_backend::path_of(handle opened, char* out, size_t room) {
    const calls::blocked_signals whole;
    const open_handle& file = state::handles.of(opened);
    calls::path_room text;
    size_t length = 0;
    if (log_node* const node = file.node; node != nullptr) {
        length = node->is_removed() ? 0 : node->path(text);
        if (!state::handles.is_open(opened)) return -EBADF;
    } else {
        length = put_path(text, PATH_MAX + 64,
                          [&](char* to, size_t bytes) { return direct::path_of(file.directory, to, bytes); });
        if (std::string_view(text.text(), length).ends_with(" (deleted)")) length = 0;
    }
    const std::string_view all(text.text(), length);
    if (length == 0 || !is_below(all, root())) return -ENOENT;
    const std::string_view below = all.size() == root_length_ ? std::string_view("/") : all.substr(root_length_);
    if (below.size() >= room) return -ENAMETOOLONG;
    std::memcpy(out, below.data(), below.size());
    out[below.size()] = '\0';
    return static_cast<ssize_t>(below.size());
}

int log_backend::next_entry(handle directory, uint64_t& after, entry& out) {
    open_handle& of = state::handles.of(directory);
    if (of.node != nullptr) return -ENOTDIR;
    const held_lock alone(of.listing_lock);
    if (!state::handles.is_open(directory)) return -EBADF;
    if (of.listing == nullptr)
        of.listing = static_cast<directory_listing*>(direct_files().take_pages(sizeof(directory_listing)));
    if (of.listing == nullptr) return -ENOMEM;
    if (after == 0) new (of.listing) directory_listing;
    return of.listing->next(of.directory, after, out);
}

// --- processes ---

void log_backend::before_fork() {
    const calls::blocked_signals whole;
    state::nodes.before_fork();
}

void log_backend::after_fork() {
    state::nodes.after_fork();
    state::handles.after_fork();
}

void log_backend::keep_still() {
    state::nodes.keep_still();
}

void log_backend::go_on() {
    state::nodes.go_on();
}

void log_backend::calls_left() {
    node_use::leave_all();
    state::nodes.go_on();
}

void log_backend::before_end() {
    const calls::blocked_signals whole;
    state::nodes.before_end();
}

void log_backend::before_exec() {
    const calls::blocked_signals whole;
    state::nodes.before_exec();
}

}  // namespace halcyon::logfs
