// log_backend: data, sizes and locks of what is open.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "calls/backends/backend_files.hpp"
#include "calls/backends/synced_by_each.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/standard_error.hpp"
#include "logfs/backend/backend_state.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/backend/log_backend.hpp"
#include "logfs/backend/node_use.hpp"
#include "logfs/backend/private_copy.hpp"
#include "logfs/backend/shown_calls.hpp"
#include "logfs/container/files/file_systems.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;
using calls::call_id;

int64_t total_of(const iovec* pieces, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<int64_t>(pieces[i].iov_len);
    return sum;
}

/// With the node of an open container, ready and locked; what `work` returns, or -errno. `ready`:
/// log_node::ready_behind for what sees nothing of what others wrote.
template <class Work>
int64_t with_open(calls::file_backend::handle opened, int64_t of_directory, Work work,
                  int (log_node::*ready)() = &log_node::ready) {
    log_node* const node = state::handles.of(opened).node;
    return node == nullptr ? of_directory : with_open_node(*node, opened, work, ready);
}

/// Around a call that moves bytes: where they may go elsewhere from then on, layers hear of it when nothing is locked
/// any more.
class place_watch {
  public:
    place_watch(log_backend& of, calls::file_backend::handle opened) : of_(of), opened_(opened) {}
    ~place_watch() {
        if (is_elsewhere_) [[unlikely]]
            calls::backends::placed_anew(of_, opened_);
    }
    place_watch(const place_watch&) = delete;
    place_watch& operator=(const place_watch&) = delete;

    int64_t done(log_node& of, int64_t result) {
        is_elsewhere_ = of.has_other_places();
        return result;
    }

  private:
    log_backend& of_;
    calls::file_backend::handle opened_;
    bool is_elsewhere_ = false;
};

/// What others have published is seen from here on.
int see_others(log_node& of) {
    const bool has_to_look = of.has_to_look();
    if (of.others_published() || has_to_look) {
        if (const auto fresh = of.file().refresh(); !fresh) {
            of.is_behind = true;
            return error_of(fresh.why());
        }
    }
    return of.expect_no_past_writes();
}

/// As much as there is; at the end of the file, behind a look at whether that is still there.
int64_t read_pieces(log_node& of, const iovec* pieces, int count, int64_t offset) {
    if (const int failed = see_others(of); failed != 0) return failed;
    log_file& file = of.file();
    int64_t moved = 0;
    bool has_looked_again = false;
    for (int i = 0; i < count; ++i) {
        auto* const base = static_cast<std::byte*>(pieces[i].iov_base);
        for (size_t done = 0; done < pieces[i].iov_len;) {
            const auto read = file.read(offset + moved, {base + done, pieces[i].iov_len - done});
            if (!read) return moved > 0 ? moved : error_of(read.why());
            if (*read == 0) {
                if (has_looked_again) return moved;
                has_looked_again = true;
                if (const auto fresh = file.refresh(); !fresh) return moved > 0 ? moved : error_of(fresh.why());
            }
            done += static_cast<size_t>(*read);
            moved += *read;
        }
    }
    return moved;
}

/// O_SYNC and O_DSYNC: what was written is on the device.
int64_t synced(log_node& of, int flags, int64_t moved) {
    of.has_unpublished = true;
    of.attend_stage();
    const bool is_synced = (flags & (O_SYNC | O_DSYNC)) != 0;
    int failed = is_synced ? of.sync(log_node::whose::own) : 0;
    if (failed == 0) failed = of.share();
    return failed != 0 ? failed : moved;
}

void tell_of_mapping(std::string_view path) {
    static std::atomic<bool> told{false};
    if (told.exchange(true)) return;
    char line[PATH_MAX + 200];
    const int length = snprintf(line, sizeof line,
                                "halcyon: %.*s: a writable shared mapping of a log container was refused (ENODEV); "
                                "msync cannot send stores to a log\n",
                                static_cast<int>(path.size()), path.data());
    calls::standard_error::say(line, length);
}

}  // namespace

ssize_t log_backend::read(handle opened, const iovec* pieces, int count, int64_t offset) {
    if (offset < 0) return -EINVAL;
    log_node* const node = state::handles.of(opened).node;
    if (node == nullptr) return -EISDIR;
    place_watch places(*this, opened);
    return with_open_node_at_once(
        *node, opened, [&](log_node& of) { return places.done(of, read_pieces(of, pieces, count, offset)); });
}

ssize_t log_backend::write(handle opened, const iovec* pieces, int count, int64_t offset) {
    if (offset < 0) return -EINVAL;
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr) return -EBADF;
    const int flags = file.flags;
    const int64_t bytes = total_of(pieces, count);
    place_watch places(*this, opened);
    return with_open_node_at_once(*node, opened, [&](log_node& of) -> int64_t {
        if (bytes == 0) return 0;
        const auto written = of.file().write(offset, pieces, count);
        return places.done(of, written.ok() ? synced(of, flags, *written) : error_of(written.why()));
    });
}

ssize_t log_backend::append(handle opened, const iovec* pieces, int count, int64_t& offset) {
    const int flags = state::handles.of(opened).flags;
    const int64_t bytes = total_of(pieces, count);
    place_watch places(*this, opened);
    return with_open(opened, -EBADF, [&](log_node& of) -> int64_t {
        if (bytes == 0) return 0;
        const auto written = of.file().append(pieces, count);
        if (!written) return error_of(written.why());
        offset = written->offset;
        return places.done(of, synced(of, flags, written->bytes));
    });
}

int64_t log_backend::copy_out(handle opened, int64_t offset, int64_t bytes, int to, int64_t* to_offset) {
    log_node* const node = state::handles.of(opened).node;
    if (node == nullptr || calls::are_calls_below_wanted()) return 0;
    struct statfs system {};
    const int64_t asked = direct::fstatfs(to, &system);
    const int64_t least = least_copied_bytes(asked == 0 ? static_cast<uint32_t>(system.f_type) : asked);
    place_watch places(*this, opened);
    const int64_t moved = with_open_node_at_once(*node, opened, [&](log_node& of) -> int64_t {
        if (const int failed = see_others(of); failed != 0) return failed;
        const auto copied = of.file().copy_out(offset, bytes, to, to_offset, least);
        return copied.ok() ? places.done(of, *copied) : 0;
    });
    return std::max(int64_t{0}, moved);
}

int64_t log_backend::copy_in(handle opened, int64_t offset, int64_t bytes, int from, int64_t from_offset) {
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr || calls::are_calls_below_wanted()) return 0;
    const int flags = file.flags;
    place_watch places(*this, opened);
    return with_open_node_at_once(*node, opened, [&](log_node& of) -> int64_t {
        const auto copied = of.file().copy_in(offset, bytes, from, &from_offset);
        if (!copied || *copied == 0) return 0;
        return places.done(of, synced(of, flags, *copied));
    });
}

int log_backend::stat(handle opened, struct stat& out) {
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr) return direct_files().status(file.directory, out);
    return static_cast<int>(with_open_node(*node, opened, [&](log_node& of) -> int64_t {
        if (const auto fresh = of.file().refresh(); !fresh) return error_of(fresh.why());
        return of.status(out);
    }));
}

int log_backend::resize(handle opened, int64_t bytes) {
    if (bytes < 0) return -EINVAL;
    return static_cast<int>(with_open(opened, -EINVAL, [&](log_node& of) {
        of.has_unpublished = true;
        const int done = error_of(of.file().truncate(bytes));
        return int64_t{done != 0 ? done : of.publish()};
    }));
}

/// No room is taken ahead: a log has no place for what is not written yet.
int log_backend::reserve(handle opened, int mode, int64_t offset, int64_t bytes) {
    if (offset < 0 || bytes <= 0) return -EINVAL;
    if (bytes > INT64_MAX - offset) return -EFBIG;
    constexpr int keeps_size = FALLOC_FL_KEEP_SIZE;
    const bool erases = mode == (FALLOC_FL_PUNCH_HOLE | keeps_size) || (mode & ~keeps_size) == FALLOC_FL_ZERO_RANGE;
    if (!erases && (mode & ~keeps_size) != 0) return -EOPNOTSUPP;
    return static_cast<int>(with_open(opened, -EBADF, [&](log_node& of) -> int64_t {
        log_file& file = of.file();
        if (const auto fresh = file.refresh(); !fresh) return error_of(fresh.why());
        const auto size = file.size();
        if (!size) return error_of(size.why());
        const int64_t end = std::min(offset + bytes, *size);
        of.has_unpublished = true;
        if (erases && end > offset) {
            if (const auto erased = file.erase(offset, end - offset); !erased) return error_of(erased.why());
        }
        if ((mode & keeps_size) != 0 || *size >= offset + bytes) return 0;
        return error_of(file.reach(offset + bytes));
    }));
}

/// From then on, also what others had made known before is seen: whoever uses the file next looks. To look takes longer
/// than to sync on file systems of several nodes, and often the file is closed next.
int log_backend::sync(handle opened, bool /*data_only*/) {
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr)
        return static_cast<int>(
            shown::on(call_id::log_fsync, file.directory, [&] { return direct::call(SYS_fsync, file.directory); }));
    place_watch places(*this, opened);
    // Ranks that sync together do so each for what it wrote.
    const auto written = calls::backends::is_synced_by_each() ? log_node::whose::own : log_node::whose::all;
    const auto sync_node = [&](log_node& of) -> int64_t {
        if (const int failed = of.sync(written); failed != 0) return failed;
        of.is_behind = true;
        return places.done(of, 0);
    };
    return static_cast<int>(with_open_node(*node, opened, sync_node, &log_node::ready_behind));
}

/// A container that has to be opened anew stays closed: a child of fork names descriptors that it only closes, too.
void log_backend::say_places(handle opened, calls::data_places& out) {
    const open_handle& file = state::handles.of(opened);
    log_node* const node = file.node;
    if (node == nullptr) return;
    with_held(*node, [&](log_node& of) -> int64_t {
        if (state::handles.is_open(opened)) of.say_places((file.flags & (O_SYNC | O_DSYNC)) != 0, out);
        return 0;
    });
}

int64_t log_backend::next_of(handle opened, int whence, int64_t offset, int64_t size) {
    return with_open(opened, -EINVAL, [&](log_node& of) -> int64_t {
        const auto next = whence == SEEK_DATA ? of.file().next_data(offset) : of.file().next_hole(offset);
        if (!next) return error_of(next.why());
        if (*next >= 0) return *next;
        return whence == SEEK_DATA ? -ENXIO : size;
    });
}

// --- locks: who gets one sees what others wrote before they gave theirs back ---

int log_backend::lock(handle opened, int command, struct flock& range) {
    const open_handle& file = state::handles.of(opened);
    const bool releases = command != F_GETLK && range.l_type == F_UNLCK;
    // A twin's descriptor goes with it, and with that the locks of the process.
    log_node* const node = file.node;
    if (node != nullptr && node_use::interrupted(*node) != nullptr) return -ENOLCK;
    const auto placeholder = [&](log_node& of) -> int64_t {
        if (releases) static_cast<void>(of.publish());
        return of.placeholder();
    };
    const int64_t fd = node == nullptr ? int64_t{file.directory} : with_open_node(*node, opened, placeholder);
    if (fd < 0) return static_cast<int>(fd);
    // Not with the node's lock: it may take long, and a signal may end it.
    const auto done =
        static_cast<int>(shown::on(releases ? call_id::log_unlock : call_id::log_lock, static_cast<int>(fd),
                                   [&] { return direct::call(SYS_fcntl, fd, command, direct::address(&range)); },
                                   {range.l_start, range.l_len, range.l_type}));
    if (done != 0 || command == F_GETLK || releases || node == nullptr) return done;
    return static_cast<int>(with_open(opened, 0, [&](log_node& of) {
        of.has_record_locks = true;
        return error_of(of.file().refresh());
    }));
}

int log_backend::lock_whole(handle opened, int fd, int operation) {
    const open_handle& file = state::handles.of(opened);
    const bool releases = (operation & ~LOCK_NB) == LOCK_UN;
    if (releases && file.node != nullptr) with_open(opened, 0, [&](log_node& of) -> int64_t { return of.publish(); });
    const auto done =
        static_cast<int>(shown::on(releases ? call_id::log_unlock : call_id::log_lock, fd,
                                   [&] { return direct::call(SYS_flock, fd, operation); }, {.argument = operation}));
    if (done != 0 || releases) return done;
    return static_cast<int>(
        with_open(opened, 0, [&](log_node& of) -> int64_t { return error_of(of.file().refresh()); }));
}

// --- epochs ---

int64_t log_backend::propose_epoch(handle opened) {
    return with_open(
        opened, -EBADF, [](log_node& of) { return of.file().propose_epoch(); }, &log_node::ready_behind);
}

int log_backend::join_group(handle opened, uint64_t group, bool has_same_pages) {
    return static_cast<int>(with_open(
        opened, -EBADF, [&](log_node& of) { return int64_t{of.join_group(group, has_same_pages)}; },
        &log_node::ready_behind));
}

int log_backend::raise_epoch(handle opened, uint64_t group, int64_t time_ns) {
    return static_cast<int>(with_open(
        opened, -EBADF, [&](log_node& of) { return int64_t{of.raise_epoch(group, time_ns)}; },
        &log_node::ready_behind));
}

uint64_t log_backend::pages_of(handle opened) {
    const log_node* const node = state::handles.of(opened).node;
    return node == nullptr ? 0 : node->pages();
}

int log_backend::show_group(handle opened) {
    return static_cast<int>(with_open(
        opened, -EBADF, [](log_node& of) { return int64_t{of.show_group()}; }, &log_node::ready_behind));
}

int log_backend::begin_together(handle opened, uint64_t group, int64_t time_ns) {
    return static_cast<int>(with_open(
        opened, -EBADF, [&](log_node& of) { return int64_t{of.begin_together(group, time_ns)}; },
        &log_node::ready_behind));
}

void log_backend::end_together(handle opened) {
    with_open(
        opened, 0, [](log_node& of) { return int64_t{error_of(of.file().end_together())}; }, &log_node::ready_behind);
}

int log_backend::share_at_once(handle opened) {
    return static_cast<int>(with_open(
        opened, -EBADF, [](log_node& of) { return int64_t{of.share_at_once()}; }, &log_node::ready_behind));
}

int64_t log_backend::map(handle opened, void* at, size_t bytes, int protection, int flags, int64_t offset) {
    const int64_t mapped = with_open(opened, -ENODEV, [&](log_node& of) -> int64_t {
        static_cast<void>(of.others_published());
        if (const int failed = of.expect_no_past_writes(); failed != 0) return failed;
        if (const auto fresh = of.file().refresh(); !fresh) return error_of(fresh.why());
        return map_copy(of, {at, bytes, protection, flags, offset}, state::settings.most_mapped_bytes);
    });
    if (mapped != -ENODEV) return mapped;
    char path[PATH_MAX];
    const ssize_t length = path_of(opened, path, sizeof path);
    tell_of_mapping(length > 0 ? std::string_view(path, static_cast<size_t>(length)) : "a file");
    return mapped;
}

}  // namespace halcyon::logfs
