#include "calls/memory_backend/memory_backend.hpp"

#include <dirent.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "calls/memory_backend/attributes.hpp"
#include "calls/memory_backend/chunk_mapping.hpp"
#include "calls/memory_backend/job_lock.hpp"
#include "calls/memory_backend/record_locks.hpp"
#include "calls/memory_backend/space_mapping.hpp"
#include "calls/state/descriptors.hpp"

namespace halcyon::calls {

namespace attributes = in_memory::attributes;

using in_memory::chunk_bytes;
using in_memory::held_job_lock;
using in_memory::most_file_bytes;
using in_memory::most_name;
using in_memory::names;
using in_memory::open_files;
using in_memory::open_record;
using in_memory::space;

namespace {

/// For a moment the process has none.
mode_t less_umask(mode_t mode) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mode & ~mask;
}

constexpr int64_t page_bytes = 4096;

}  // namespace

int memory_backend::start(int memory, int64_t capacity) {
    if (space_ != nullptr) return memory_;
    if (memory < 0) memory = in_memory::make_memory();
    if (memory < 0) return memory;
    space* mapped = nullptr;
    if (const int failed = in_memory::map_space(memory, capacity, mapped); failed != 0) return failed;
    descriptors::own(memory);
    memory_ = memory;
    processes_.start(*mapped, memory);
    data_.start(*mapped, processes_);
    names_.start(*mapped);
    files_.start(*mapped, processes_, data_);
    space_ = mapped;
    return memory;
}

uint32_t memory_backend::locks_taken_over() const {
    return space_->head.taken_over.load(std::memory_order_relaxed);
}

// --- files ---

int memory_backend::open(const char* path, int flags, unsigned mode, handle& opened) {
    if ((flags & O_PATH) != 0) flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if ((flags & O_TMPFILE) == O_TMPFILE) return -EOPNOTSUPP;
    if ((flags & O_CREAT) != 0 && (flags & O_DIRECTORY) != 0) return -EINVAL;
    const int failed = find_or_make(path, flags, mode, opened);
    // It is nobody's yet but ours.
    if (failed == 0 && (flags & O_TRUNC) != 0 && node_of(opened).size.load() != 0) data_.resize(node_of(opened), 0);
    return failed;
}

int memory_backend::find_or_make(const char* path, int flags, unsigned mode, handle& opened) {
    const bool exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    const int failed = names_.resolve(path, (flags & O_NOFOLLOW) == 0 && !exclusive, at);
    if (failed != 0) return failed;
    if (at.inode == 0) {
        if ((flags & O_CREAT) == 0) return -ENOENT;
        at.inode = names_.make_inode(S_IFREG | less_umask(mode & 07777));
        if (at.inode == 0) return -ENOSPC;
        if (const int full = names_.add(at, at.inode); full != 0) {
            space_->inodes[at.inode].links.store(0);
            files_.free_if_unused(at.inode);
            return full;
        }
        return files_.open(at, flags, all.own(), opened);
    }
    const inode& node = space_->inodes[at.inode];
    const unsigned type = node.mode.load() & S_IFMT;
    const bool only_path = (flags & O_PATH) != 0;
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return -EEXIST;
    if ((flags & O_CREAT) != 0 && type == S_IFDIR) return -EISDIR;
    if ((flags & O_DIRECTORY) != 0 && type != S_IFDIR) return -ENOTDIR;
    if (type == S_IFLNK && !only_path) return -ELOOP;
    if (type == S_IFDIR && writes && !only_path) return -EISDIR;
    if ((flags & O_TRUNC) != 0) files_.empty(at.inode);
    return files_.open(at, flags, all.own(), opened);
}

int memory_backend::adopt(uint64_t key, handle& opened) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    opened = key;
    return files_.adopt(key, all.own());
}

void memory_backend::close(handle opened) {
    if (node_of(opened).has_locks.load(std::memory_order_relaxed))
        in_memory::record_locks::drop(memory_, open_files::inode_of(opened));
    const held_job_lock all(*space_, processes_, space_->head.lock);
    files_.close(opened, all.own());
}

ssize_t memory_backend::path_of(handle opened, char* out, size_t room) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    const open_record* const record = files_.find(opened);
    if (record == nullptr) return -EBADF;
    if (record->name != 0 && space_->names[record->name].generation != record->name_generation) return -ENOENT;
    return names_.path_of(record->name, out, room);
}

int memory_backend::open_again(handle opened, int flags, handle& again) {
    {
        const held_job_lock all(*space_, processes_, space_->head.lock);
        const open_record* const record = files_.find(opened);
        if (record == nullptr) return -EBADF;
        const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
        if (writes && S_ISDIR(node_of(opened).mode.load())) return -EISDIR;
        names::place at{};
        at.inode = record->inode;
        at.entry = record->name;
        const uint32_t of_name = record->name_generation;
        if (const int failed = files_.open(at, flags, all.own(), again); failed != 0) return failed;
        files_.find(again)->name_generation = of_name;
    }
    if ((flags & O_TRUNC) != 0) data_.resize(node_of(again), 0);
    return 0;
}

ssize_t memory_backend::read(handle opened, const iovec* pieces, int count, int64_t offset) {
    inode& node = node_of(opened);
    if (!S_ISREG(node.mode.load(std::memory_order_relaxed))) return -EISDIR;
    return data_.read(node, pieces, count, offset);
}

void memory_backend::reclaim() {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    files_.reclaim(all.own());
}

ssize_t memory_backend::write(handle opened, const iovec* pieces, int count, int64_t offset) {
    inode& node = node_of(opened);
    if (is_over_quota(offset, pieces, count)) {  // as much as is allowed
        if (offset >= quota_) return -EDQUOT;
        const iovec allowed{pieces[0].iov_base, std::min(pieces[0].iov_len, static_cast<size_t>(quota_ - offset))};
        return data_.write(node, &allowed, 1, offset);
    }
    const ssize_t done = data_.write(node, pieces, count, offset);
    if (done == in_memory::piece_cursor::total(pieces, count)) [[likely]]
        return done;
    if (done < 0 && done != -ENOSPC) return done;
    reclaim();
    return data_.write(node, pieces, count, offset);  // the same bytes where they were before
}

ssize_t memory_backend::append(handle opened, const iovec* pieces, int count, int64_t& offset) {
    inode& node = node_of(opened);
    if (is_over_quota(node.size.load(), pieces, count)) return -EDQUOT;
    const ssize_t done = data_.append(node, pieces, count, offset);
    if (done != -ENOSPC) return done;
    reclaim();
    return data_.append(node, pieces, count, offset);
}

int memory_backend::stat(handle opened, struct stat& out) {
    attributes::show(*space_, open_files::inode_of(opened), out);
    return 0;
}

int memory_backend::resize(handle opened, int64_t bytes) {
    inode& node = node_of(opened);
    if (bytes < 0 || !S_ISREG(node.mode.load())) return -EINVAL;
    if (bytes > most_file_bytes) return -EFBIG;
    data_.resize(node, bytes);
    return 0;
}

int memory_backend::reserve(handle opened, int mode, int64_t offset, int64_t bytes) {
    constexpr int wipes = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
    inode& node = node_of(opened);
    if (offset < 0 || bytes <= 0) return -EINVAL;
    if ((mode & ~(wipes | FALLOC_FL_KEEP_SIZE)) != 0 || (mode & wipes) == wipes) return -EOPNOTSUPP;
    if ((mode & FALLOC_FL_PUNCH_HOLE) != 0 && (mode & FALLOC_FL_KEEP_SIZE) == 0) return -EOPNOTSUPP;
    if (!S_ISREG(node.mode.load())) return -ENODEV;
    if (offset > most_file_bytes || bytes > most_file_bytes - offset) return -EFBIG;
    const int64_t end = offset + bytes;
    if ((mode & FALLOC_FL_PUNCH_HOLE) == 0 && !data_.have(node, offset, end)) {
        reclaim();
        if (!data_.have(node, offset, end)) return -ENOSPC;
    }
    if ((mode & wipes) != 0) data_.fill_with_zeros(node, offset, end);
    data_.extend(node, (mode & FALLOC_FL_KEEP_SIZE) != 0 ? 0 : end);
    return 0;
}

int memory_backend::sync(handle /*opened*/, bool /*data_only*/) {
    return 0;
}

int memory_backend::lock(handle opened, int command, struct flock& range) {
    node_of(opened).has_locks.store(true, std::memory_order_relaxed);
    return in_memory::record_locks::set(memory_, open_files::inode_of(opened), command, range);
}

int memory_backend::lock_whole(handle opened, int /*fd*/, int operation) {
    constexpr long until_the_dead_are_counted_ms = 50;
    inode& node = node_of(opened);
    for (;;) {
        uint32_t seen = 0;
        {
            const held_job_lock all(*space_, processes_, space_->head.lock);
            const int result = files_.lock_whole(opened, operation);
            if (result != -EAGAIN) return result;
            files_.sweep(all.own());
            seen = node.lets_go.load();
            const int now = files_.lock_whole(opened, operation);
            if (now != -EAGAIN || (operation & LOCK_NB) != 0) return now;
        }
        if (in_memory::wait_for_change(node.lets_go, seen, until_the_dead_are_counted_ms) == -EINTR) return -EINTR;
    }
}

int64_t memory_backend::map(handle opened, void* at, size_t bytes, int protection, int flags, int64_t offset) {
    inode& node = node_of(opened);
    const auto length = static_cast<int64_t>(bytes);
    if (length <= 0 || offset < 0 || offset % page_bytes != 0) return -EINVAL;
    if (length > most_file_bytes || offset > most_file_bytes) return -EOVERFLOW;
    if (!S_ISREG(node.mode.load()) || !descriptors::is_own(memory_)) return -ENODEV;
    {
        const held_job_lock all(*space_, processes_, space_->head.lock);
        open_record* const record = files_.find(opened);
        if (record == nullptr) return -EBADF;
        const unsigned access = record->flags & O_ACCMODE;
        const bool writes = (flags & MAP_TYPE) != MAP_PRIVATE && (protection & PROT_WRITE) != 0;
        if (access == O_WRONLY || (writes && access != O_RDWR)) return -EACCES;
        record->mapped = true;
    }
    const int64_t end = std::min(offset + length, node.size.load());
    if (!data_.have(node, offset, end)) {
        reclaim();
        if (!data_.have(node, offset, end)) return -ENOMEM;
    }
    return in_memory::map_chunks(*space_, memory_, data_, node, at, length, protection, flags, offset);
}

// --- names ---

int memory_backend::make(const char* path, unsigned mode, names::place& at) {
    if (const int failed = names_.resolve(path, false, at); failed != 0) return failed;
    if (at.inode != 0) return -EEXIST;
    at.inode = names_.make_inode(mode);
    if (at.inode == 0) return -ENOSPC;
    const int full = names_.add(at, at.inode);
    if (full == 0) return 0;
    space_->inodes[at.inode].links.store(0);
    files_.free_if_unused(at.inode);
    return full;
}

int memory_backend::stat_path(const char* path, bool follow, struct stat& out) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    if (const int failed = names_.resolve(path, follow, at); failed != 0) return failed;
    if (at.inode == 0) return -ENOENT;
    attributes::show(*space_, at.inode, out);
    return 0;
}

int memory_backend::unlink(const char* path) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    if (const int failed = names_.resolve(path, false, at); failed != 0) return failed;
    if (at.inode == 0) return -ENOENT;
    if (at.directory == 0 || S_ISDIR(space_->inodes[at.inode].mode.load())) return -EISDIR;
    names_.remove(at.entry);
    files_.free_if_unused(at.inode);
    return 0;
}

int memory_backend::rename(const char* from, const char* to, unsigned flags) {
    constexpr unsigned no_replace = 1;
    constexpr unsigned exchange = 2;
    if ((flags & ~(no_replace | exchange)) != 0 || flags == (no_replace | exchange)) return -EINVAL;
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place old_place;
    names::place new_place;
    if (const int failed = names_.resolve(from, false, old_place); failed != 0) return failed;
    if (const int failed = names_.resolve(to, false, new_place); failed != 0) return failed;
    const int failed = names_.rename(old_place, new_place, flags);
    if (failed == 0 && new_place.inode != 0 && new_place.inode != old_place.inode)
        files_.free_if_unused(new_place.inode);
    return failed;
}

int memory_backend::make_directory(const char* path, unsigned mode) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    return make(path, S_IFDIR | less_umask(mode & 01777), at);
}

int memory_backend::remove_directory(const char* path) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    if (const int failed = names_.resolve(path, false, at); failed != 0) return failed;
    if (at.inode == 0) return -ENOENT;
    if (at.directory == 0) return -EBUSY;
    if (!S_ISDIR(space_->inodes[at.inode].mode.load())) return -ENOTDIR;
    if (!names_.is_empty(at.inode)) return -ENOTEMPTY;
    names_.remove(at.entry);
    files_.free_if_unused(at.inode);
    return 0;
}

int memory_backend::link(const char* from, const char* to) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place old_place;
    names::place new_place;
    if (const int failed = names_.resolve(from, false, old_place); failed != 0) return failed;
    if (old_place.inode == 0) return -ENOENT;
    if (const int failed = names_.resolve(to, false, new_place); failed != 0) return failed;
    if (new_place.inode != 0) return -EEXIST;
    inode& node = space_->inodes[old_place.inode];
    if (S_ISDIR(node.mode.load())) return -EPERM;
    if (const int failed = names_.add(new_place, old_place.inode); failed != 0) return failed;
    node.links.fetch_add(1);
    node.changed.store(in_memory::file_data::now());
    return 0;
}

int memory_backend::make_symbolic_link(const char* target, const char* path) {
    const size_t length = ::strnlen(target, in_memory::most_path);
    if (length == 0) return -ENOENT;
    if (length == in_memory::most_path) return -ENAMETOOLONG;
    const held_job_lock all(*space_, processes_, space_->head.lock);
    const uint32_t text = in_memory::take(space_->head.tables, space_->table_links, in_memory::most_tables);
    if (text == 0) return -ENOSPC;
    names::place at;
    if (const int failed = make(path, S_IFLNK | 0777, at); failed != 0) {
        in_memory::give(space_->head.tables, space_->table_links, text);
        return failed;
    }
    std::memcpy(static_cast<void*>(space_->tables[text].slots), target, length);
    inode& node = space_->inodes[at.inode];
    node.root.store(text);
    node.size.store(static_cast<int64_t>(length));
    return 0;
}

ssize_t memory_backend::read_link(const char* path, char* out, size_t room) {
    if (room == 0) return -EINVAL;
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    if (const int failed = names_.resolve(path, false, at); failed != 0) return failed;
    if (at.inode == 0) return -ENOENT;
    const inode& node = space_->inodes[at.inode];
    if (!S_ISLNK(node.mode.load())) return -EINVAL;
    const size_t length = std::min(room, static_cast<size_t>(node.size.load()));
    std::memcpy(out, static_cast<const void*>(space_->tables[node.root.load()].slots), length);
    return static_cast<ssize_t>(length);
}

template <class Change>
int memory_backend::change(const char* path, bool follow, Change how) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    names::place at;
    if (const int failed = names_.resolve(path, follow, at); failed != 0) return failed;
    if (at.inode == 0) return -ENOENT;
    how(space_->inodes[at.inode]);
    return 0;
}

int memory_backend::set_mode(const char* path, unsigned mode) {
    return change(path, true, [&](inode& node) { attributes::set_mode(node, mode); });
}
int memory_backend::set_mode(handle opened, unsigned mode) {
    attributes::set_mode(node_of(opened), mode);
    return 0;
}
int memory_backend::set_owner(const char* path, bool follow, uid_t user, gid_t group) {
    return change(path, follow, [&](inode& node) { attributes::set_owner(node, user, group); });
}
int memory_backend::set_owner(handle opened, uid_t user, gid_t group) {
    attributes::set_owner(node_of(opened), user, group);
    return 0;
}
int memory_backend::set_times(const char* path, bool follow, const timespec times[2]) {
    return change(path, follow, [&](inode& node) { attributes::set_times(node, times); });
}
int memory_backend::set_times(handle opened, const timespec times[2]) {
    attributes::set_times(node_of(opened), times);
    return 0;
}

int memory_backend::stat_system(struct statfs& out) {
    const held_job_lock all(*space_, processes_, space_->head.lock);
    files_.reclaim(all.own());
    out = {};
    out.f_type = TMPFS_MAGIC;
    out.f_bsize = chunk_bytes;
    out.f_frsize = chunk_bytes;
    out.f_blocks = space_->head.capacity;
    out.f_bfree = space_->head.capacity - space_->head.chunks.used;
    out.f_bavail = out.f_bfree;
    out.f_files = in_memory::most_inodes;
    out.f_ffree = in_memory::most_inodes - space_->head.inodes.used;
    out.f_namelen = most_name;
    return 0;
}

// --- directories ---

int memory_backend::next_entry(handle directory, uint64_t& after, entry& out) {
    constexpr uint64_t self = 1;
    constexpr uint64_t parent = 2;
    const held_job_lock all(*space_, processes_, space_->head.lock);
    const uint32_t number = open_files::inode_of(directory);
    const inode& node = space_->inodes[number];
    if (!S_ISDIR(node.mode.load())) return -ENOTDIR;
    if (node.links.load() == 0) return 0;
    if (after < parent) {
        const bool first = after == 0;
        const uint32_t above = number == in_memory::root_inode ? number : space_->names[node.own_name].directory;
        out.inode = first ? number : above;
        out.type = DT_DIR;
        std::memcpy(out.name, first ? ".\0" : "..", 3);
        after = first ? self : parent;
        return 1;
    }
    const uint32_t found = names_.next(number, after == parent ? 0 : after);
    if (found == 0) return 0;
    const in_memory::name_entry& name = space_->names[found];
    out.inode = name.target;
    out.type = IFTODT(space_->inodes[name.target].mode.load());
    std::memcpy(out.name, name.text, name.length + 1);
    after = names_.place_of(found);
    return 1;
}

// --- processes ---

void memory_backend::after_fork() {
    if (space_ == nullptr) return;
    processes_.after_fork();
    data_.after_fork();
    files_.after_fork();
}

// The program that this process becomes finds what it has by its number, which stays. A child of vfork gets what its
// parent has; the parent may close it before the new program adopts it.
void memory_backend::before_exec() {
    if (space_ == nullptr) return;
    const held_job_lock all(*space_, processes_, space_->head.lock);
    files_.hold_all(all.own());
}

}  // namespace halcyon::calls
