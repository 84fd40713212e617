#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "logfs/mount/requests/open_file.hpp"
#include "logfs/mount/requests/request.hpp"
#include "logfs/mount/requests/status.hpp"
#include "logfs/mount/state/acting_as.hpp"
#include "logfs/mount/state/names.hpp"

/// Requests about what a file holds.
namespace halcyon::logfs {
namespace {

bool is_for_writing(int flags) {
    return (flags & O_ACCMODE) != O_RDONLY;
}

int open_container(mounted& in, node& of, const place& at, const fuse_file_info& info, open_file& out) {
    const int64_t now = monotonic_ns();
    auto file = take(in, of, at);
    if (!file) return noted(in, file.why());
    if (is_for_writing(info.flags) && (*file)->is_plfs()) return EROFS;
    // What others have published by now is seen from here on.
    if (auto fresh = with_room(in, [&] { return (*file)->refresh_as_of(now); }); !fresh) return noted(in, fresh.why());
    if ((info.flags & O_TRUNC) != 0 && is_for_writing(info.flags)) {
        const auto cut = with_room(in, [&] { return (*file)->resize(0); });
        if (!cut) return noted(in, cut.why());
    }
    out.log = *std::move(file);
    return 0;
}

// Of the flags of open(). Who appends is asked at each write: pages that were changed through a mapping are written by
// any descriptor, and have their place.
constexpr int not_of_descriptors = O_NOFOLLOW | O_CREAT | O_EXCL | O_APPEND;

int open_plain(fuse_req_t request, const place& at, int flags, open_file& out) {
    mounted& in = mount_of(request);
    const acting_as program(caller_of(request, in.options.is_for_all_users));
    const std::string path = "/proc/self/fd/" + std::to_string(at->get());
    const int opening_flags = (flags & ~not_of_descriptors) | O_CLOEXEC;
    return open_with_room(in, out.plain, [&] { return ::open(path.c_str(), opening_flags); });
}

/// Says whether what the kernel knows of the file still holds. It drops its pages by itself where they do not, but not
/// what it knows of the size.
void tell_kernel(mounted& in, node& of, fuse_file_info& info, std::unique_ptr<open_file> opened) {
    if (opened->is_container()) {
        const bool holds = opened->log->may_keep_pages();
        info.keep_cache = holds ? 1 : 0;
        if (!holds) ::fuse_lowlevel_notify_inval_inode(in.session, number_of(in, of), -1, 0);
    }
    info.fh = reinterpret_cast<uint64_t>(opened.release());
    ++in.open_files;
}

void end(mounted& in, const fuse_file_info& info) {
    delete &open_file_of(&info);
    --in.open_files;
}

int open_node(fuse_req_t request, node& of, const fuse_file_info& info, open_file& out) {
    mounted& in = mount_of(request);
    place at;
    if (of.kind() == node_kind::about) return ELOOP;
    if (const int failed = in.nodes.at(of, at); failed != 0) return failed;
    return of.is_container() ? open_container(in, of, at, info, out) : open_plain(request, at, info.flags, out);
}

void open(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
    mounted& in = mount_of(request);
    node& of = node_of(in, number);
    auto opened = std::make_unique<open_file>();
    if (const int failed = open_node(request, of, *info, *opened); failed != 0) {
        ::fuse_reply_err(request, failed);
        return;
    }
    tell_kernel(in, of, *info, std::move(opened));
    // The program was killed meanwhile: nobody closes it.
    if (::fuse_reply_open(request, info) != 0) end(in, *info);
}

/// A new file; EEXIST where there is one by now.
int create_file(fuse_req_t request, node& folder, const place& at, const char* name, mode_t mode, int flags,
                open_file& out) {
    mounted& in = mount_of(request);
    const acting_as program(caller_of(request, in.options.is_for_all_users));
    if (in.options.new_files_are_containers) {
        const std::string path = in.nodes.path_of(folder) + "/" + name;
        auto made = with_room(in, [&] { return in.containers.create(at->get(), name, mode & 07777, path); });
        if (!made) return noted(in, made.why());
        out.log = *std::move(made);
        return 0;
    }
    const int opening_flags = (flags & ~not_of_descriptors) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return open_with_room(in, out.plain, [&] { return ::openat(at->get(), name, opening_flags, mode); });
}

void create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
    mounted& in = mount_of(request);
    node& folder = node_of(in, parent);
    auto opened = std::make_unique<open_file>();
    place at;
    int failed = is_hidden(name) ? EPERM : in.nodes.at(folder, at);
    if (failed == 0) failed = create_file(request, folder, at, name, mode, info->flags, *opened);
    const bool is_there = failed == EEXIST && (info->flags & O_EXCL) == 0;
    fuse_entry_param entry{};
    if (failed == 0 || is_there) failed = make_entry(in, folder, name, entry);
    if (failed != 0) {
        ::fuse_reply_err(request, failed);
        return;
    }
    node& found = node_of(in, entry.ino);
    if (is_there) failed = open_node(request, found, *info, *opened);
    if (failed != 0) {
        in.nodes.forget(found, 1);
        ::fuse_reply_err(request, failed);
        return;
    }
    tell_kernel(in, found, *info, std::move(opened));
    if (::fuse_reply_create(request, &entry, info) == 0) return;
    in.nodes.forget(found, 1);
    end(in, *info);
}

/// As long as the longest request was; of one thread.
std::span<std::byte> room_for(size_t bytes) {
    thread_local std::unique_ptr<std::byte[]> room;
    thread_local size_t size = 0;
    if (size < bytes) {
        room = std::make_unique_for_overwrite<std::byte[]>(bytes);
        size = bytes;
    }
    return {room.get(), bytes};
}

void read(fuse_req_t request, fuse_ino_t, size_t bytes, off_t offset, fuse_file_info* info) {
    open_file& from = open_file_of(info);
    mounted& in = mount_of(request);
    const std::span<std::byte> room = room_for(bytes);
    // Copied twice, which is quicker than to splice: moving pages by pipes takes longer than copying what is in a
    // cache.
    if (!from.is_container()) {
        const ssize_t found = ::pread(from.plain.get(), room.data(), room.size(), offset);
        if (found < 0)
            ::fuse_reply_err(request, errno);
        else
            ::fuse_reply_buf(request, reinterpret_cast<const char*>(room.data()), static_cast<size_t>(found));
        return;
    }
    if (const auto found = with_room(in, [&] { return from.log->read(offset, room); }); found)
        ::fuse_reply_buf(request, reinterpret_cast<const char*>(room.data()), static_cast<size_t>(*found));
    else
        ::fuse_reply_err(request, noted(in, found.why()));
}

void write(fuse_req_t request, fuse_ino_t number, const char* data, size_t bytes, off_t offset, fuse_file_info* info) {
    open_file& to = open_file_of(info);
    // Pages that a program changed through a mapping have their place.
    const bool appends = (info->flags & O_APPEND) != 0 && info->writepage == 0;
    if (!to.is_container()) {
        const iovec whole{const_cast<char*>(data), bytes};
        const ssize_t written = ::pwritev2(to.plain.get(), &whole, 1, offset, appends ? RWF_APPEND : 0);
        if (written < 0)
            ::fuse_reply_err(request, errno);
        else
            ::fuse_reply_write(request, static_cast<size_t>(written));
        return;
    }
    mounted& in = mount_of(request);
    const std::span what(reinterpret_cast<const std::byte*>(data), bytes);
    const auto written = with_room(in, [&]() -> result<log_file::appended> {
        if (appends) return to.log->append(what);
        const auto done = to.log->write(offset, what);
        if (!done) return done.why();
        return log_file::appended{offset, *done};
    });
    if (!written) {
        ::fuse_reply_err(request, noted(in, written.why()));
        return;
    }
    ::fuse_reply_write(request, static_cast<size_t>(written->bytes));
    // Another node had appended: the kernel keeps the bytes for where the end was to its knowledge.
    if (written->offset != offset) in.pages->drop(number);
}

/// A program closed one of its descriptors: what it wrote is there for others.
void flush(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    open_file& of = open_file_of(info);
    int failed = 0;
    if (!of.is_container()) {
        // The file system below may have something to say about it.
        const int copy = ::fcntl(of.plain.get(), F_DUPFD_CLOEXEC, 0);
        if (copy >= 0 && ::close(copy) != 0) failed = errno;
    } else if (of.log->has_written()) {
        if (const auto settled = of.log->settle(); !settled) failed = noted(mount_of(request), settled.why());
    }
    ::fuse_reply_err(request, failed);
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    end(mount_of(request), *info);
    ::fuse_reply_err(request, 0);
}

void fsync(fuse_req_t request, fuse_ino_t, int only_data, fuse_file_info* info) {
    open_file& of = open_file_of(info);
    int failed = 0;
    if (of.is_container()) {
        mounted& in = mount_of(request);
        if (const auto synced = with_room(in, [&] { return of.log->sync(); }); !synced)
            failed = noted(in, synced.why());
    } else if ((only_data != 0 ? ::fdatasync(of.plain.get()) : ::fsync(of.plain.get())) != 0) {
        failed = errno;
    }
    ::fuse_reply_err(request, failed);
}

/// A log has no place for bytes that are not written yet: a file can be made longer, and nothing is promised of room.
int allocate(mounted& in, shared_file& of, int mode, int64_t offset, int64_t bytes) {
    const bool keeps_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
    const int what = mode & ~FALLOC_FL_KEEP_SIZE;
    if (what != 0 && what != FALLOC_FL_PUNCH_HOLE && what != FALLOC_FL_ZERO_RANGE) return EOPNOTSUPP;
    if ((what == 0 && keeps_size) || (what == FALLOC_FL_PUNCH_HOLE && !keeps_size)) return EOPNOTSUPP;
    const auto done = with_room(in, [&] {
        result<void> erased = what != 0 ? of.erase(offset, bytes) : result<void>();
        return erased.ok() && !keeps_size ? of.reach(offset + bytes) : erased;
    });
    return done ? 0 : noted(in, done.why());
}

void fallocate(fuse_req_t request, fuse_ino_t, int mode, off_t offset, off_t bytes, fuse_file_info* info) {
    open_file& of = open_file_of(info);
    int failed = 0;
    if (of.is_container())
        failed = allocate(mount_of(request), *of.log, mode, offset, bytes);
    else if (::fallocate(of.plain.get(), mode, offset, bytes) != 0)
        failed = errno;
    ::fuse_reply_err(request, failed);
}

/// The kernel asks for data and holes only.
void lseek(fuse_req_t request, fuse_ino_t, off_t offset, int whence, fuse_file_info* info) {
    open_file& of = open_file_of(info);
    off_t found = -1;
    int failed = 0;
    if (!of.is_container()) {
        found = ::lseek(of.plain.get(), offset, whence);
        failed = found < 0 ? errno : 0;
    } else if (whence != SEEK_DATA && whence != SEEK_HOLE) {
        failed = EINVAL;
    } else {
        const auto next = whence == SEEK_DATA ? of.log->next_data(offset) : of.log->next_hole(offset);
        if (next) found = *next;
        failed = !next ? noted(mount_of(request), next.why()) : found < 0 ? ENXIO : 0;
    }
    if (failed == 0)
        ::fuse_reply_lseek(request, found);
    else
        ::fuse_reply_err(request, failed);
}

}  // namespace

void add_file_requests(fuse_lowlevel_ops& to) {
    to.open = safely<open>::call;
    to.create = safely<create>::call;
    to.read = safely<read>::call;
    to.write = safely<write>::call;
    to.flush = safely<flush>::call;
    to.release = safely<release>::call;
    to.fsync = safely<fsync>::call;
    to.fallocate = safely<fallocate>::call;
    to.lseek = safely<lseek>::call;
}

}  // namespace halcyon::logfs
