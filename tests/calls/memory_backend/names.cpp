#include "calls/memory_backend/names.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "calls/memory_backend/file_data.hpp"

// Of linux/fs.h, which glibc has only with _GNU_SOURCE's stdio.h.
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1U
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2U
#endif

namespace halcyon::calls::in_memory {
namespace {

constexpr int most_links_followed = 40;

// In a directory's place: high, its sequence; low, the entry that has it, if it still does.
constexpr uint64_t entry_bits = (uint64_t{1} << 20) - 1;
static_assert(most_names < entry_bits);

uint32_t bucket_of(uint32_t directory, const char* text, uint32_t length) {
    uint64_t hash = 14695981039346656037U ^ directory;  // FNV-1a
    for (uint32_t i = 0; i < length; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211U;
    return static_cast<uint32_t>(hash ^ hash >> 32) % buckets;
}

bool is_directory(const inode& node) {
    return S_ISDIR(node.mode.load(std::memory_order_relaxed));
}
bool is_link(const inode& node) {
    return S_ISLNK(node.mode.load(std::memory_order_relaxed));
}

void touch(inode& node, bool content) {
    const int64_t now = file_data::now();
    node.changed.store(now, std::memory_order_relaxed);
    if (content) node.modified.store(now, std::memory_order_relaxed);
}

}  // namespace

uint32_t names::find(uint32_t directory, const char* text, uint32_t length) const {
    uint32_t entry = space_->name_buckets[bucket_of(directory, text, length)];
    for (; entry != 0; entry = name_of(entry).next_in_bucket) {
        const name_entry& name = name_of(entry);
        if (name.directory == directory && name.length == length && std::memcmp(name.text, text, length) == 0) break;
    }
    return entry;
}

uint32_t names::parent_of(uint32_t directory) const {
    return directory == root_inode ? 0 : name_of(inode_of(directory).own_name).directory;
}

int names::resolve(const char* path, bool follow, place& out) const {
    char(&scratch)[3][2 * most_path] = space_->head.scratch;
    if (::strnlen(path, most_path) == most_path) return -ENAMETOOLONG;
    const char* rest = path;
    uint32_t directory = root_inode;
    for (int links = 0;;) {
        while (*rest == '/') ++rest;
        const char* const text = rest;
        while (*rest != '/' && *rest != '\0') ++rest;
        const auto length = static_cast<uint32_t>(rest - text);
        while (*rest == '/') ++rest;
        const bool last = *rest == '\0';
        if (length == 0) {
            out = {};
            out.inode = directory;
            out.entry = inode_of(directory).own_name;
            return 0;
        }
        if (length > most_name) return -ENAMETOOLONG;
        if (length == 1 && text[0] == '.') continue;
        if (length == 2 && text[0] == '.' && text[1] == '.') {
            if (directory == root_inode) return -EXDEV;
            directory = parent_of(directory);
            continue;
        }
        const uint32_t entry = find(directory, text, length);
        const uint32_t found = entry == 0 ? 0 : name_of(entry).target;
        if (found == 0 && !last) return -ENOENT;
        if (found != 0 && is_link(inode_of(found)) && (!last || follow)) {
            if (++links > most_links_followed) return -ELOOP;
            const inode& link = inode_of(found);
            const char* const target = reinterpret_cast<const char*>(space_->tables[link.root.load()].slots);
            const auto bytes = static_cast<size_t>(link.size.load());
            if (target[0] == '/') return -EXDEV;
            const size_t behind = ::strnlen(rest, most_path);
            if (bytes + behind + 1 >= most_path) return -ENAMETOOLONG;
            char* const fresh = scratch[links % 2];
            std::memcpy(fresh, target, bytes);
            fresh[bytes] = '/';
            std::memcpy(fresh + bytes + 1, rest, behind);
            fresh[bytes + 1 + behind] = '\0';
            if (behind == 0) fresh[bytes] = '\0';
            rest = fresh;
            continue;
        }
        if (last) {
            out.directory = directory;
            out.entry = entry;
            out.inode = found;
            out.length = length;
            std::memcpy(out.text, text, length);
            out.text[length] = '\0';
            return 0;
        }
        if (!is_directory(inode_of(found))) return -ENOTDIR;
        directory = found;
    }
}

void names::enter(uint32_t entry, uint32_t directory, const char* text, uint32_t length) const {
    name_entry& name = name_of(entry);
    inode& within = inode_of(directory);
    name.directory = directory;
    name.length = length;
    std::memmove(name.text, text, length);
    name.text[length] = '\0';
    name.sequence = ++within.last_sequence;
    name.before = within.last_name;
    name.behind = 0;
    if (within.last_name != 0)
        name_of(within.last_name).behind = entry;
    else
        within.first_name = entry;
    within.last_name = entry;
    uint32_t& bucket = space_->name_buckets[bucket_of(directory, text, length)];
    name.next_in_bucket = bucket;
    bucket = entry;
    within.size.fetch_add(1, std::memory_order_relaxed);
    touch(within, true);
}

void names::leave(uint32_t entry) const {
    name_entry& name = name_of(entry);
    inode& within = inode_of(name.directory);
    uint32_t* link = &space_->name_buckets[bucket_of(name.directory, name.text, name.length)];
    while (*link != entry) link = &name_of(*link).next_in_bucket;
    *link = name.next_in_bucket;
    (name.before != 0 ? name_of(name.before).behind : within.first_name) = name.behind;
    (name.behind != 0 ? name_of(name.behind).before : within.last_name) = name.before;
    within.size.fetch_sub(1, std::memory_order_relaxed);
    touch(within, true);
}

int names::add(place& at, uint32_t target) const {
    const uint32_t entry = take(space_->head.names, space_->names, most_names);
    if (entry == 0) return -ENOSPC;
    name_of(entry).target = target;
    at.entry = entry;
    enter(entry, at.directory, at.text, at.length);
    if (is_directory(inode_of(target))) {
        inode_of(target).own_name = entry;
        inode_of(at.directory).links.fetch_add(1, std::memory_order_relaxed);
    }
    return 0;
}

void names::remove(uint32_t entry) const {
    name_entry& name = name_of(entry);
    leave(entry);
    inode& target = inode_of(name.target);
    if (is_directory(target)) {
        inode_of(name.directory).links.fetch_sub(1, std::memory_order_relaxed);
        target.own_name = 0;
        target.links.store(0, std::memory_order_relaxed);
    } else {
        target.links.fetch_sub(1, std::memory_order_relaxed);
    }
    touch(target, false);
    ++name.generation;
    name.target = 0;
    give(space_->head.names, space_->names, entry);
}

uint32_t names::step_down(uint32_t above, uint32_t below) const {
    for (uint32_t at = below; at != 0; at = parent_of(at))
        if (parent_of(at) == above) return at;
    return 0;
}

void names::count_directory(uint32_t target, uint32_t from, uint32_t to) const {
    if (!is_directory(inode_of(target)) || from == to) return;
    inode_of(from).links.fetch_sub(1, std::memory_order_relaxed);
    inode_of(to).links.fetch_add(1, std::memory_order_relaxed);
}

int names::may_replace(const place& from, const place& to) const {
    const bool directory = is_directory(inode_of(from.inode));
    if (!is_directory(inode_of(to.inode))) return directory ? -ENOTDIR : 0;
    if (!directory) return -EISDIR;
    return is_empty(to.inode) ? 0 : -ENOTEMPTY;
}

// The errors in the order in which the kernel finds them.
int names::rename(const place& from, const place& to, unsigned flags) const {
    const bool exchange = (flags & RENAME_EXCHANGE) != 0;
    if (from.directory == 0) return -EBUSY;
    if (to.directory == 0) return (flags & RENAME_NOREPLACE) != 0 ? -EEXIST : -EBUSY;
    if (from.entry == 0) return -ENOENT;
    if (to.entry != 0 && (flags & RENAME_NOREPLACE) != 0) return -EEXIST;
    if (to.entry == 0 && exchange) return -ENOENT;
    if (step_down(from.directory, to.directory) == from.inode) return -EINVAL;
    if (to.inode != 0 && step_down(to.directory, from.directory) == to.inode) return exchange ? -EINVAL : -ENOTEMPTY;
    if (from.inode == to.inode) return 0;
    if (exchange) {
        leave(from.entry);
        leave(to.entry);
        enter(from.entry, to.directory, to.text, to.length);
        enter(to.entry, from.directory, from.text, from.length);
        count_directory(from.inode, from.directory, to.directory);
        count_directory(to.inode, to.directory, from.directory);
        touch(inode_of(to.inode), false);
    } else {
        if (to.entry != 0) {
            if (const int failed = may_replace(from, to); failed != 0) return failed;
            remove(to.entry);
        }
        leave(from.entry);
        enter(from.entry, to.directory, to.text, to.length);
        count_directory(from.inode, from.directory, to.directory);
    }
    touch(inode_of(from.inode), false);
    return 0;
}

uint64_t names::place_of(uint32_t entry) const {
    return name_of(entry).sequence << 20 | entry;
}

uint32_t names::next(uint32_t directory, uint64_t after) const {
    if (after == 0) return inode_of(directory).first_name;
    const auto entry = static_cast<uint32_t>(after & entry_bits);
    if (entry <= most_names) {
        const name_entry& name = name_of(entry);
        if (name.directory == directory && name.target != 0 && place_of(entry) == after) return name.behind;
    }
    uint32_t found = inode_of(directory).first_name;
    while (found != 0 && name_of(found).sequence <= after >> 20) found = name_of(found).behind;
    return found;
}

int64_t names::path_of(uint32_t entry, char* out, uint64_t room) const {
    char(&text)[2 * most_path] = space_->head.scratch[2];
    uint64_t start = sizeof text - 1;
    text[start] = '\0';
    for (uint32_t at = entry; at != 0; at = inode_of(name_of(at).directory).own_name) {
        const name_entry& name = name_of(at);
        if (start < name.length + uint64_t{1}) return -ENAMETOOLONG;
        start -= name.length;
        std::memcpy(text + start, name.text, name.length);
        text[--start] = '/';
    }
    if (entry == 0) text[--start] = '/';
    const uint64_t length = sizeof text - 1 - start;
    if (length >= room) return -ENAMETOOLONG;
    std::memcpy(out, text + start, length + 1);
    return static_cast<int64_t>(length);
}

uint32_t names::make_inode(unsigned mode) const {
    const uint32_t number = take(space_->head.inodes, space_->inodes, most_inodes);
    if (number == 0) return 0;
    inode& node = inode_of(number);
    node.size.store(0);
    node.truncations.store(0);
    node.lock.store(0);
    node.has_locks.store(false);
    node.links.store(S_ISDIR(mode) ? 2 : 1);
    node.exclusive = 0;
    node.shared = 0;
    node.open_files = 0;
    node.own_name = 0;
    node.user.store(static_cast<uint32_t>(direct::call(SYS_geteuid)));
    node.group.store(static_cast<uint32_t>(direct::call(SYS_getegid)));
    const int64_t now = file_data::now();
    node.accessed.store(now);
    node.modified.store(now);
    node.changed.store(now);
    node.mode.store(mode);
    return number;
}

}  // namespace halcyon::calls::in_memory
