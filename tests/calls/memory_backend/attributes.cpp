#include "calls/memory_backend/attributes.hpp"

#include "calls/memory_backend/file_data.hpp"

namespace halcyon::calls::in_memory::attributes {
namespace {

constexpr int64_t page_bytes = 4096;

timespec time_of(const std::atomic<int64_t>& nanoseconds) {
    const int64_t now = nanoseconds.load(std::memory_order_relaxed);
    const int64_t rest = (now % 1'000'000'000 + 1'000'000'000) % 1'000'000'000;
    return {(now - rest) / 1'000'000'000, rest};
}

void set_time(std::atomic<int64_t>& nanoseconds, const timespec& to) {
    if (to.tv_nsec == UTIME_NOW) return nanoseconds.store(file_data::now());
    if (to.tv_nsec != UTIME_OMIT) nanoseconds.store(to.tv_sec * 1'000'000'000 + to.tv_nsec);
}

}  // namespace

void show(const space& of, uint32_t number, struct stat& out) {
    const inode& node = of.inodes[number];
    out = {};
    out.st_dev = 0x4d454d;
    out.st_ino = number;
    out.st_mode = node.mode.load();
    out.st_nlink = node.links.load();
    out.st_uid = node.user.load();
    out.st_gid = node.group.load();
    out.st_size = node.size.load(std::memory_order_acquire);
    out.st_blksize = page_bytes;
    out.st_blocks = node.chunks.load() * (chunk_bytes / 512);
    out.st_atim = time_of(node.accessed);
    out.st_mtim = time_of(node.modified);
    out.st_ctim = time_of(node.changed);
}

void set_mode(inode& node, unsigned mode) {
    const uint32_t type = node.mode.load() & S_IFMT;
    node.mode.store(type | (mode & 07777));
    node.changed.store(file_data::now());
}

void set_owner(inode& node, uid_t user, gid_t group) {
    if (user != static_cast<uid_t>(-1)) node.user.store(user);
    if (group != static_cast<gid_t>(-1)) node.group.store(group);
    node.changed.store(file_data::now());
}

void set_times(inode& node, const timespec times[2]) {
    set_time(node.accessed, times[0]);
    set_time(node.modified, times[1]);
    node.changed.store(file_data::now());
}

}  // namespace halcyon::calls::in_memory::attributes
