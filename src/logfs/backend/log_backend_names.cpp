// log_backend: names and attributes.
#include <fcntl.h>
#include <stdio.h>
#include <sys/statfs.h>

#include <cerrno>

#include "calls/state/direct_call.hpp"
#include "logfs/backend/backend_state.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/log_backend.hpp"
#include "logfs/backend/node_use.hpp"
#include "logfs/backend/remove_tree.hpp"
#include "logfs/backend/shown_calls.hpp"
#include "logfs/container/directory/replacement.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/reading/quick_look.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;
using calls::call_id;

int rename_to(const char* from, const char* to, unsigned flags) {
    return direct_files().rename_at(AT_FDCWD, from, AT_FDCWD, to, flags);
}

int ask_access(const char* path, int mode, int flags) {
    return static_cast<int>(shown::named(
        call_id::log_access, AT_FDCWD, path,
        [&] {
            constexpr long faccessat2 = 439;
            const int asked = flags & (AT_EACCESS | AT_SYMLINK_NOFOLLOW);
            const long done =
                asked != 0 ? direct::call(faccessat2, AT_FDCWD, direct::address(path), mode, asked) : -ENOSYS;
            // Linux before 5.8 asks for the user who started the program.
            return done != -ENOSYS ? done : direct::call(SYS_faccessat, AT_FDCWD, direct::address(path), mode);
        },
        mode));
}

/// Whether the one lies below the other.
bool is_above(const whole_path& one, const whole_path& other) {
    const std::string_view path = one.view();
    return other.view().starts_with(path) && other.view().size() > path.size() && other.view()[path.size()] == '/';
}

bool is_not_empty(int error) {
    return error == -ENOTEMPTY || error == -EEXIST;
}

}  // namespace

/// With the container of this path, up to date and locked.
template <class Work>
int log_backend::with_node(const whole_path& at, Work work) {
    const calls::blocked_signals whole;
    constexpr int most_tries = 16;
    for (int tries = 0; tries < most_tries; ++tries) {
        const int fd = direct_files().open_at(AT_FDCWD, at.c_str(), O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0) return fd;
        log_nodes::taken found;
        int done = state::nodes.take(fd, at.c_str(), found);
        direct_files().close(fd);
        if (done == -ESTALE || done == -ENOENT) continue;
        if (done != 0) return done;
        done = static_cast<int>(with_ready(*found.node, [&](log_node& of) -> int64_t {
            const auto fresh = found.is_up_to_date ? result<void>() : of.file().refresh();
            return fresh.ok() ? work(of) : error_of(fresh.why());
        }));
        state::nodes.release(*found.node);
        return done;
    }
    return -ESTALE;
}

int log_backend::stat_path(const char* path, bool follow, struct stat& out) {
    const whole_path at(root(), path);
    found there;
    if (const int failed = at.look_quickly(follow, there); failed != 0) return failed;
    if (there.is == kind::container) {
        if (stat_quickly(at, out)) return 0;
        const int done = with_node(at, [&](log_node& of) { return of.status(out); });
        if (done != -EISDIR) return done;
    }
    out = there.state;
    return 0;
}

/// Without its index, which may be long: `ls -l`. False: it takes that.
bool log_backend::stat_quickly(const whole_path& at, struct stat& out) {
    const calls::blocked_signals whole;
    container of(direct_files());
    written_state written;
    return of.open(at.view()).ok() && look_quickly(of, state::settings.who.boot_id, written) &&
           read_status(of, written, out).ok();
}

int log_backend::access(const char* path, int mode, int flags) {
    const whole_path at(root(), path);
    found there;
    if (const int failed = at.look(true, there); failed != 0) return failed;
    // That a file is there, its folder says.
    if (there.is != kind::container || mode == F_OK) return ask_access(at.c_str(), mode, flags);
    const short_name name = short_name("/").add(there.is_plfs ? plfs_access_name : marker_name);
    const whole_path marker(at.view(), name.c_str());
    return ask_access(marker.c_str(), mode, flags);
}

// --- removing ---

/// The container has no name any more. Below the mount's own directory where that may be, so that its folder can be
/// removed while somebody has it open; else beside where it was.
int log_backend::put_aside(const char* path) {
    // What killed processes were removing.
    if (!has_swept_.exchange(true)) sweep(root_, false);
    const short_name gone = removed_name();
    const whole_path below(root(), gone.c_str());
    int done = rename_to(path, below.c_str(), 0);
    if (done == 0) {
        remove_unused(below.c_str());
        return 0;
    }
    const std::string_view all(path);
    const whole_path beside(all.substr(0, all.rfind('/')), gone.c_str());
    done = rename_to(path, beside.c_str(), 0);
    if (done == 0) remove_unused(beside.c_str());
    return done;
}

int log_backend::unlink(const char* path) {
    const whole_path at(root(), path);
    if (at.is_root()) return -EISDIR;
    found there;
    if (const int failed = at.look(false, there); failed != 0) return failed;
    if (there.is == kind::directory) return -EISDIR;
    if (there.is == kind::other) return direct_files().remove_at(AT_FDCWD, at.c_str(), false);
    const calls::blocked_signals whole;
    return put_aside(at.c_str());
}

int log_backend::remove_directory(const char* path) {
    const whole_path at(root(), path);
    if (at.is_root()) return -EBUSY;
    found there;
    if (const int failed = at.look(false, there); failed != 0) return failed;
    if (there.is != kind::directory) return -ENOTDIR;
    const int done = direct_files().remove_at(AT_FDCWD, at.c_str(), true);
    if (!is_not_empty(done)) return done;
    const calls::blocked_signals whole;
    sweep(at.c_str(), true);
    return direct_files().remove_at(AT_FDCWD, at.c_str(), true);
}

// --- renaming ---

int log_backend::replace(const whole_path& from, const whole_path& to, bool removes_container) {
    const calls::blocked_signals whole;
    replacement names(direct_files(), {AT_FDCWD, from.c_str()}, {AT_FDCWD, to.c_str()});
    if (const int failed = names.make(); failed != 0) return failed;
    const char* const gone = names.replaced().name;
    const int done = removes_container ? put_aside(gone) : direct_files().remove_at(AT_FDCWD, gone, false);
    if (done != 0) names.undo();
    return done;
}

int log_backend::rename(const char* from, const char* to, unsigned flags) {
    if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE)) != 0 || flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
        return -EINVAL;
    const whole_path source(root(), from);
    const whole_path target(root(), to);
    if (source.is_root() || target.is_root()) return -EBUSY;
    if (const int failed = source.expect_parent(); failed != 0) return failed;
    if (const int failed = target.expect_parent(); failed != 0) return failed;
    found moved;
    found replaced;
    if (const int failed = source.look(false, moved); failed != 0) return failed;
    const int nothing = target.look(false, replaced);
    if (nothing != 0 && nothing != -ENOENT) return nothing;
    const bool is_plain = moved.is != kind::container && (nothing != 0 || replaced.is != kind::container);
    if (nothing != 0 || flags != 0) return rename_to(source.c_str(), target.c_str(), flags);
    if (is_plain) {
        const int done = rename_to(source.c_str(), target.c_str(), 0);
        if (!is_not_empty(done) || replaced.is != kind::directory || is_above(target, source)) return done;
        const calls::blocked_signals whole;
        sweep(target.c_str(), true);
        return rename_to(source.c_str(), target.c_str(), 0);
    }
    if (moved.is == kind::directory) return is_above(source, target) ? -EINVAL : -ENOTDIR;
    if (replaced.is == kind::directory) return is_above(target, source) ? -ENOTEMPTY : -EISDIR;
    if (moved.state.st_ino == replaced.state.st_ino && moved.state.st_dev == replaced.state.st_dev) return 0;
    return replace(source, target, replaced.is == kind::container);
}

// --- what the kernel does, but not within a container ---

int log_backend::make_directory(const char* path, unsigned mode) {
    const whole_path at(root(), path);
    if (const int failed = at.expect_parent(); failed != 0) return failed;
    return direct_files().make_directory_at(AT_FDCWD, at.c_str(), mode);
}

int log_backend::link(const char* from, const char* to) {
    const whole_path source(root(), from);
    const whole_path target(root(), to);
    found linked;
    if (const int failed = source.look(false, linked); failed != 0) return failed;
    if (const int failed = target.expect_parent(); failed != 0) return failed;
    if (linked.is != kind::other) return -EPERM;  // a container has one name
    return direct_files().make_hard_link_at(AT_FDCWD, source.c_str(), target.c_str());
}

int log_backend::make_symbolic_link(const char* target, const char* path) {
    const whole_path at(root(), path);
    if (const int failed = at.expect_parent(); failed != 0) return failed;
    return direct_files().make_link_at(target, AT_FDCWD, at.c_str());
}

ssize_t log_backend::read_link(const char* path, char* out, size_t room) {
    const whole_path at(root(), path);
    found there;
    if (const int failed = at.look(false, there); failed != 0) return failed;
    if (there.is != kind::other) return -EINVAL;
    return direct_files().read_link_at(AT_FDCWD, at.c_str(), out, room);
}

// --- attributes ---

int log_backend::set_mode(const char* path, unsigned mode) {
    const whole_path at(root(), path);
    found there;
    if (const int failed = at.look(true, there); failed != 0) return failed;
    if (there.is == kind::container)
        return with_node(at, [&](log_node& of) { return error_of(of.file().set_mode(mode)); });
    return direct_files().set_mode_at(AT_FDCWD, at.c_str(), mode);
}

int log_backend::set_owner(const char* path, bool follow, uid_t user, gid_t group) {
    const whole_path at(root(), path);
    found there;
    if (const int failed = at.look(follow, there); failed != 0) return failed;
    if (there.is == kind::container)
        return with_node(at, [&](log_node& of) { return error_of(of.file().set_owner(user, group)); });
    return static_cast<int>(shown::named(call_id::log_chown, AT_FDCWD, at.c_str(), [&] {
        return direct::call(SYS_fchownat, AT_FDCWD, direct::address(at.c_str()), user, group,
                            follow ? 0 : AT_SYMLINK_NOFOLLOW);
    }));
}

int log_backend::set_times(const char* path, bool follow, const timespec times[2]) {
    const whole_path at(root(), path);
    found there;
    if (const int failed = at.look(follow, there); failed != 0) return failed;
    if (there.is == kind::container)
        return with_node(at, [&](log_node& of) { return error_of(of.file().set_times(times)); });
    return static_cast<int>(shown::named(call_id::log_utimens, AT_FDCWD, at.c_str(), [&] {
        return direct::call(SYS_utimensat, AT_FDCWD, direct::address(at.c_str()), direct::address(times),
                            follow ? 0 : AT_SYMLINK_NOFOLLOW);
    }));
}

/// Of a directory the kernel's, of a container ours.
template <class OfDirectory, class OfContainer>
int log_backend::change(handle opened, call_id function, OfDirectory of_directory, OfContainer of_container) {
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr)
        return static_cast<int>(
            shown::on(function, file.directory, [&] { return int64_t{of_directory(file.directory)}; }));
    return static_cast<int>(with_open_node(*node, opened, [&](log_node& of) -> int64_t {
        const auto fresh = of.file().refresh();
        return fresh.ok() ? of_container(of) : error_of(fresh.why());
    }));
}

int log_backend::set_mode(handle opened, unsigned mode) {
    return change(
        opened, call_id::log_chmod, [&](int fd) { return direct::call(SYS_fchmod, fd, mode); },
        [&](log_node& of) { return error_of(of.file().set_mode(mode)); });
}

int log_backend::set_owner(handle opened, uid_t user, gid_t group) {
    return change(
        opened, call_id::log_chown, [&](int fd) { return direct::call(SYS_fchown, fd, user, group); },
        [&](log_node& of) { return error_of(of.file().set_owner(user, group)); });
}

int log_backend::set_times(handle opened, const timespec times[2]) {
    return change(
        opened, call_id::log_utimens,
        [&](int fd) { return direct::call(SYS_utimensat, fd, 0, direct::address(times), 0); },
        [&](log_node& of) { return error_of(of.file().set_times(times)); });
}

int log_backend::stat_system(struct statfs& out) {
    return static_cast<int>(shown::named(call_id::log_statfs, AT_FDCWD, root_, [&] {
        return direct::call(SYS_statfs, direct::address(root_), direct::address(&out));
    }));
}

}  // namespace halcyon::logfs
