#include "logfs/backend/log_node.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "calls/backends/hidden_descriptors.hpp"
#include "calls/record/layer.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/standard_error.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/shown_calls.hpp"
#include "logfs/backend/stage_agent.hpp"
#include "logfs/backend/whole_path.hpp"
#include "logfs/container/directory/marker.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/directory/removed_container.hpp"
#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/reading/hashed_numbers.hpp"
#include "logfs/container/writing/time_line.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;
namespace hidden = calls::hidden_descriptors;

/// The kind of file system that it is on, as statfs has it; 0: nobody knows.
uint32_t system_of(int fd) {
    struct statfs system {};
    const auto ask = [&] { return int64_t{direct::fstatfs(fd, &system)}; };
    return shown::on(calls::call_id::log_statfs, fd, ask) == 0 ? static_cast<uint32_t>(system.f_type) : 0;
}

void destroy(log_file* file) {
    file->~log_file();
    direct_files().return_pages(file, sizeof(log_file));
}

bool are_the_same(int one, int other) {
    struct stat first {};
    struct stat second {};
    return direct_files().status(one, first) == 0 && direct_files().status(other, second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// Whether a marker is whole, and this container's. So is one that may not be read.
bool is_marker_of(int fd, uint64_t id) {
    char text[marker::room];
    const int64_t bytes = read_whole(direct_files(), fd, std::as_writable_bytes(std::span(text)), 0);
    if (bytes == -EBADF) return true;
    marker now;
    return bytes > 0 && marker::read({text, static_cast<size_t>(bytes)}, now) == marker::reading::whole && now.id == id;
}

/// Once in each process: the file is read without them.
void tell_of(const lost_data& lost, const char* path) {
    static std::atomic<bool> has_told{false};
    if (lost.droppings == 0 || has_told.exchange(true)) return;
    char line[700];
    const int length = snprintf(line, sizeof line,
                                "halcyon: %.400s: %lld bytes that were not synced before a node crashed have no index, "
                                "and are lost; 'halcyon log check' names them\n",
                                path, static_cast<long long>(lost.bytes));
    calls::standard_error::say(line, std::min(length, static_cast<int>(sizeof line) - 1));
}

}  // namespace

int error_of(const failure& why) {
    static std::atomic<bool> has_told_of_stage{false};
    const bool is_elsewhere = why.system_errno == ENODATA && !has_told_of_stage.exchange(true);
    if (why.kind == error_kind::config || why.kind == error_kind::internal || is_elsewhere) {
        char line[1024];
        const int length = snprintf(line, sizeof line, "halcyon: %s\n", why.message.c_str());
        const bool fits = length < static_cast<int>(sizeof line);
        calls::standard_error::say(line, fits ? length : static_cast<int>(sizeof line) - 1);
    }
    return why.system_errno > 0 ? -why.system_errno : why.system_errno < 0 ? why.system_errno : -EIO;
}

std::string_view without_placeholder(std::string_view name) {
    const size_t slash = name.rfind('/');
    if (slash == std::string_view::npos || name.substr(slash + 1) != descriptor_name) return name;
    name.remove_suffix(name.size() - slash);
    return name;
}

log_node::log_node(const node_settings& how) : how_(how), host_directories_(how.host_directories) {}

const char* log_node::name_of_marker() const {
    return is_plfs_ ? plfs_access_name.data() : marker_name.data();
}

/// A lock that others see for as long as any process has this open file.
int log_node::hold_marker(int directory) {
    const int fd = say_open(direct_files(), directory, name_of_marker());
    if (fd < 0) return fd;
    marker_ = fd;
    return 0;
}

int log_node::identify(int directory) {
    struct stat state {};
    const int done = direct_files().status(directory, state);
    device = state.st_dev;
    inode = state.st_ino;
    return done;
}

void log_node::look_at_system(int directory) {
    const uint32_t system = system_of(directory);
    is_between_nodes_ = keeps_mapped_pages(system);
    locks_directories_ = is_of_one_node(system);
}

int log_node::open_file(const char* path, bool is_new, mode_t mode) {
    opening wanted;
    wanted.may_read = true;
    wanted.may_write = !is_plfs_;
    wanted.creates = is_new;
    wanted.looks_for_past_writes = false;
    wanted.is_exclusive = is_new;
    wanted.mode = mode;
    wanted.host_directories = how_.host_directories;
    wanted.has_threads = false;  // who has the node's lock
    wanted.backends = how_.backends;
    wanted.index_folder = how_.index_folder;
    wanted.writing = how_.writing;
    wanted.reading = how_.reading;
    writer_identity who = how_.who;
    who.pid = direct::process_id();
    who.group = group_;
    void* const room = direct_files().take_pages(sizeof(log_file));
    if (room == nullptr) return -ENOMEM;
    // Whether its calls are shown is decided here, and a descriptor may be looked at before the call on it is recorded.
    static_cast<void>(calls::recording());
    auto* const made = new (room) log_file(direct_files());
    const int failed = error_of(made->open(path, who, wanted));
    if (failed == 0) {
        file_ = made;
        if (!is_plfs_) host_directories_ = made->of().host_directories();
        tell_of(made->reading()->lost(), path);
    } else {
        destroy(made);
    }
    return failed;
}

int log_node::create(const char* path, mode_t mode) {
    if (const int failed = open_file(path, true, mode); failed != 0) return failed;
    const int directory = file_->of().directory();
    look_at_system(directory);
    int failed = identify(directory);
    if (failed == 0) failed = hold_marker(directory);
    if (failed != 0) close_file();
    return failed;
}

int log_node::open(int fd, const char* path) {
    struct stat there {};
    is_plfs_ = direct_files().status_at(fd, marker_name.data(), there) != 0 || !S_ISREG(there.st_mode);
    look_at_system(fd);
    if (const int failed = identify(fd); failed != 0) return failed;
    int failed = open_file(path, false, 0);
    // Renamed, and another has its name, between two looks.
    if (failed == 0 && !are_the_same(file_->of().directory(), fd)) {
        close_file();
        failed = -ESTALE;
    }
    if (failed == 0) failed = hold_marker(fd);
    if (failed != 0) close_file();
    return failed;
}

int log_node::make_ready() {
    if (file_ != nullptr) {
        is_behind = false;
        // Who writes next writes behind the twin, and no pattern goes on across what that wrote.
        if (has_twin_writes.exchange(false, std::memory_order_relaxed)) {
            if (const auto settled = file_->settle(); !settled) return error_of(settled.why());
        }
        return error_of(file_->refresh());
    }
    constexpr int most_renames = 16;
    for (int tries = 0; tries < most_renames; ++tries) {
        calls::path_room now;
        if (marker_ < 0 || path(now) == 0) return -EBADF;
        const int failed = open_file(now.text(), false, 0);
        if (failed != 0 && failed != -ENOENT) return failed;
        if (failed == -ENOENT) continue;
        struct stat state {};
        if (direct_files().status(file_->of().directory(), state) == 0 && state.st_dev == device &&
            state.st_ino == inode)
            return 0;
        close_file();
    }
    return -ESTALE;
}

int open_placeholder(int directory, int flags) {
    const auto open = [&](int with) {
        return static_cast<int>(shown::opened(directory, descriptor_name.data(), with, [&] {
            return direct::call(SYS_openat, directory, direct::address(descriptor_name.data()), with | O_NOFOLLOW,
                                0666);
        }));
    };
    const int fd = open(flags);
    if (fd != -ENOENT) return fd;
    const int made = open(flags | O_CREAT | O_EXCL);
    if (made == -EEXIST) return open(flags);
    // Who may use the file needs it, whatever the umask takes; nobody else may write to it, for what is written there
    // is damage. Who may only read has no descriptor of it that could be locked by several nodes.
    struct stat whole {};
    if (made >= 0 && direct_files().status(directory, whole) == 0) {
        const auto mode = static_cast<int>(whole.st_mode & 0666);
        shown::on(calls::call_id::log_chmod, made, [&] { return direct::call(SYS_fchmod, made, mode); },
                  {.argument = mode});
    }
    return made;
}

int log_node::placeholder() {
    if (placeholder_ >= 0) return placeholder_;
    if (is_plfs_) return -EROFS;  // it stays as PLFS made it
    if (const int failed = ready(); failed != 0) return failed;
    const int directory = file_->of().directory();
    int fd = open_placeholder(directory, O_RDWR | O_CLOEXEC);
    if (fd == -EACCES || fd == -EROFS) fd = open_placeholder(directory, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) placeholder_ = hidden::hide(fd);
    return fd < 0 ? fd : placeholder_;
}

int log_node::status(struct stat& out) {
    const int failed = error_of(file_->status(out));
    if (failed == 0 && is_removed()) out.st_nlink = 0;
    return failed;
}

size_t log_node::path(char* out, size_t room) const {
    const size_t length = direct::path_of(marker_, out, room);
    const std::string_view all(out, length);
    // Where it fills the room, it was cut off.
    if (length == 0 || length + 1 >= room || all.ends_with(" (deleted)")) return 0;
    const size_t end = all.rfind('/');
    if (end == std::string_view::npos || end == 0) return 0;
    out[end] = '\0';
    return end;
}

size_t log_node::path(calls::path_room& out) const {
    const size_t length = path(out.text(), out.room());
    return length > 0 || !out.reserve(longest_path) ? length : path(out.text(), out.room());
}

bool log_node::is_removed() const {
    calls::path_room now;
    const size_t length = path(now);
    const std::string_view all(now.text(), length);
    return length == 0 || all.substr(all.rfind('/') + 1).starts_with(removed_prefix);
}

void log_node::attend_staged() {
    const auto& writer = file_->writing();
    if (!writer) return;
    if (writer->is_staged()) return stage_agent::ensure();
    static std::atomic<bool> told{false};
    if (writer->why_not_staged() == 0 || told.exchange(true)) return;
    char line[700];
    const int length =
        snprintf(line, sizeof line, "halcyon: --stage %.*s: %s: logs of this process go to %.*s at once\n",
                 static_cast<int>(how_.writing.stage.size()), how_.writing.stage.data(),
                 strerrordesc_np(-writer->why_not_staged()), 300, file_->of().path().data());
    calls::standard_error::say(line,
                               length < static_cast<int>(sizeof line) ? length : static_cast<int>(sizeof line) - 1);
}

void log_node::say_places(bool syncs_writes, calls::data_places& out) {
    const told_places::settings how{how_.writing.stage, how_.backends, syncs_writes};
    if (file_ != nullptr) return places_.say(*file_, how, out);
    calls::path_room now;
    if (path(now) == 0) return;
    writer_identity who = how_.who;
    who.pid = direct::process_id();
    places_.say_of_path(
        now.text(), writer::host_directory_for(host_directories_, !how_.backends.empty(), who, how_.writing), how, out);
}

int log_node::publish() {
    if (file_ == nullptr || !has_unpublished) return 0;
    if (const auto done = file_->settle(); !done) return error_of(done.why());
    if (is_between_nodes_) {
        if (const auto done = file_->sync_own(); !done) return error_of(done.why());
    }
    tell_others();
    return 0;
}

void log_node::settle() {
    if (file_ != nullptr && has_unpublished) static_cast<void>(file_->settle());
}

int log_node::sync(whose written) {
    const auto done = written == whose::own ? file_->sync_own() : file_->sync();
    if (!done) return error_of(done.why());
    if (has_unpublished) tell_others();
    return 0;
}

int log_node::join_group(uint64_t group, bool has_same_pages) {
    group_ = group;
    group_has_same_pages_ = has_same_pages;
    shares_at_once_ = false;
    return error_of(file_->join_group(group));
}

int log_node::raise_epoch(uint64_t group, int64_t time_ns) {
    return group == group_ ? error_of(file_->raise_epoch(time_ns)) : 0;
}

/// Of the file system as the kernel of this node shows it.
uint64_t log_node::pages() const {
    return hash_of(how_.who.boot_view()) ^ device * 0x9E3779B97F4A7C15u;
}

/// What is in the index is there for all, but where a file system keeps it to a node until it is synced.
int log_node::show_group() {
    return is_between_nodes_ && !group_has_same_pages_ ? error_of(file_->sync_own()) : 0;
}

int log_node::begin_together(uint64_t group, int64_t time_ns) {
    looks_when_reading_ = true;
    return group == group_ ? error_of(file_->begin_together(time_ns)) : 0;
}

int log_node::share_at_once() {
    shares_at_once_ = looks_when_reading_ = is_behind = true;
    return publish();
}

int log_node::share_now() {
    is_behind = true;
    return publish();
}

/// By the time of the file that descriptors stand for: nobody writes to that.
void log_node::tell_others() {
    has_unpublished = false;
    const char* const name = descriptor_name.data();
    const int directory = file_->of().directory();
    const auto touch = [&] {
        return shown::named(calls::call_id::log_utimens, directory, name, [&] {
            return direct::call(SYS_utimensat, directory, direct::address(name), 0, AT_SYMLINK_NOFOLLOW);
        });
    };
    if (touch() != -ENOENT) return;
    if (const int fd = open_placeholder(directory, O_RDONLY | O_CLOEXEC); fd >= 0) shown::close(fd);
    touch();
}

/// The kernel's clock for files is coarse: a time that is new is looked behind for as long as another change could have
/// the same one.
bool log_node::others_published() {
    constexpr int64_t coarse_ns = 20'000'000;
    constexpr int64_t old_ns = 1'000'000'000;
    struct stat now {};
    const int directory = file_->of().directory();
    if (told_by_ < 0) told_by_ = direct_files().open_at(directory, descriptor_name.data(), O_PATH | O_NOFOLLOW, 0);
    if (told_by_ == -ENOENT) return false;
    // Where no descriptor is free, by its name.
    const int looked = told_by_ >= 0 ? direct_files().status(told_by_, now)
                                     : direct_files().status_at(directory, descriptor_name.data(), now);
    if (looked != 0) return looked != -ENOENT;
    has_past_writes_ = now.st_size > 0;
    const int64_t told_ns = now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec;
    if (told_ns == told_ns_ && seen_ns_ == 0) return false;
    const int64_t here_ns = monotonic_ns();
    if (told_ns != told_ns_) {
        told_ns_ = told_ns;
        seen_ns_ = realtime_ns() - told_ns > old_ns ? 0 : here_ns;
    } else if (here_ns - seen_ns_ > coarse_ns) {
        seen_ns_ = 0;  // and for the last time
    }
    return true;
}

int log_node::tell_of_past_writes() {
    const result<void> none = logfs::expect_no_past_writes(file_->of());
    return none.ok() ? 0 : error_of(none.why());
}

/// Where descriptors are directories, nobody can.
void log_node::look_for_past_writes() {
    if (locks_directories_ || is_plfs_ || has_told_of_them_ || file_ == nullptr) return;
    if (past_writes(file_->of()) == 0) return;
    has_told_of_them_ = true;
    static_cast<void>(tell_of_past_writes());
    calls::this_process().layers.each([](calls::layer& each) { each.on_absence("writes past a log container", 1); });
}

bool log_node::rest() {
    constexpr uint64_t most_memory = uint64_t{2} << 20;
    if (file_ == nullptr || marker_ < 0 || is_plfs_ || group_ != 0 || is_removed()) return false;
    if (has_twin_writes.load(std::memory_order_relaxed)) return false;
    const bool writes = file_->writing().has_value();
    // Where nodes do not see what is in a mapped file, its end tells them.
    const bool keeps_writer = was_written_ && !is_between_nodes_;
    was_written_ = was_written_ || writes;
    if (!file_->rest(keeps_writer) || file_->reading()->memory().used() > most_memory) return false;
    close_marks();
    return true;
}

bool log_node::wake(int directory) {
    return file_ != nullptr && hold_marker(directory) == 0 && is_marker_of(marker_, file_->of().id());
}

int log_node::close_file() {
    if (file_ == nullptr) return 0;
    log_file* const closing = std::exchange(file_, nullptr);
    const int failed = closing->of().is_open() ? error_of(closing->close()) : 0;
    destroy(closing);
    return failed;
}

/// Its path, where it has no name any more that applications know; else "".
void log_node::path_if_removed(calls::path_room& path) const {
    path.text()[0] = '\0';
    if (marker_ < 0 || !is_removed() || !path.reserve(longest_path)) return;
    if (this->path(path.text(), path.room()) == 0) path.text()[0] = '\0';
}

void log_node::end_with_process(calls::path_room& path) {
    if (file_ != nullptr && has_unpublished && file_->settle().ok()) tell_others();
    close_file();
    path_if_removed(path);
    if (path.text()[0] == '\0') return;
    // The same marker without its lock, which forked children keep.
    file_calls& files = direct_files();
    const int directory = files.open_at(AT_FDCWD, path.text(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    const int unlocked = directory < 0 ? directory : files.open_at(directory, name_of_marker(), O_RDONLY, 0);
    if (directory >= 0) files.close(directory);
    if (unlocked >= 0)
        hidden::close(std::exchange(marker_, unlocked));
    else
        path.text()[0] = '\0';
}

void log_node::close(calls::path_room& path) {
    path_if_removed(path);
    close();
}

void log_node::close() {
    close_file();
    close_marks();
}

void log_node::close_marks() {
    if (told_by_ >= 0) hidden::close(std::exchange(told_by_, -1));
    if (placeholder_ >= 0) hidden::close(std::exchange(placeholder_, -1));
    if (marker_ >= 0) hidden::close(std::exchange(marker_, -1));
}

/// What another thread was in the middle of when the process was forked is left as it lies: it may not be destroyed.
void log_node::forget() {
    log_file* const parents = std::exchange(file_, nullptr);
    if (parents != nullptr && lock.is_free()) {
        parents->abandon();
        destroy(parents);
    }
    lock.forget_others();
    has_record_locks = has_unpublished = false;
}

void log_node::break_off() {
    file_ = nullptr;
}

int log_node::write_behind_all() {
    constexpr int64_t margin_ns = time_line::most_tolerance_ns + time_line::least_tolerance_ns;
    return error_of(file_->raise_epoch(realtime_ns() + margin_ns));
}

}  // namespace halcyon::logfs
