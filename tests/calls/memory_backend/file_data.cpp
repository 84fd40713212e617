#include "calls/memory_backend/file_data.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls::in_memory {
namespace {

constexpr int64_t page_bytes = 4096;

void raise_to(std::atomic<int64_t>& value, int64_t least) {
    int64_t now = value.load(std::memory_order_relaxed);
    while (now < least && !value.compare_exchange_weak(now, least, std::memory_order_release)) {
    }
}

// Other threads read this line all the time: it is written only when the clock went on.
void stamp(std::atomic<int64_t>& time, int64_t now) {
    if (time.load(std::memory_order_relaxed) != now) time.store(now, std::memory_order_relaxed);
}

void written_now(inode& node) {
    const int64_t now = file_data::now();
    stamp(node.modified, now);
    stamp(node.changed, now);
}

}  // namespace

// As the kernel's own file systems: of a timer tick.
int64_t file_data::now() {
    timespec t{};
    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

ssize_t file_data::read(inode& node, const iovec* pieces, int count, int64_t offset) const {
    const int64_t wanted = piece_cursor::total(pieces, count);
    if (wanted < 0 || offset < 0) return -EINVAL;
    const int64_t size = node.size.load(std::memory_order_acquire);
    if (offset >= size) return 0;
    const int64_t bytes = std::min(wanted, size - offset);
    piece_cursor to(pieces, count);
    for (int64_t done = 0; done < bytes;) {
        const int64_t at = offset + done;
        const int64_t within = at % chunk_bytes;
        const int64_t part = std::min(bytes - done, chunk_bytes - within);
        const std::byte* const found = chunk(node, at / chunk_bytes);
        if (found != nullptr)
            to.copy_from(found + within, part);
        else
            to.fill_with_zeros(part);
        done += part;
    }
    return bytes;
}

inline int64_t file_data::put(inode& node, const iovec* pieces, int count, int64_t bytes, int64_t offset) const {
    const auto at_first = static_cast<uint64_t>(offset);
    if (count == 1 && at_first % chunk_bytes + static_cast<uint64_t>(bytes) <= chunk_bytes) [[likely]] {
        if (std::byte* const found = chunk(node, static_cast<int64_t>(at_first / chunk_bytes))) [[likely]] {
            std::memcpy(found + at_first % chunk_bytes, pieces->iov_base, static_cast<size_t>(bytes));
            raise_to(node.size, offset + bytes);
            return bytes;
        }
    }
    return put_by_chunks(node, piece_cursor(pieces, count), bytes, offset);
}

int64_t file_data::put_by_chunks(inode& node, piece_cursor from, int64_t bytes, int64_t offset) const {
    int64_t done = 0;
    while (done < bytes) {
        const int64_t at = offset + done;
        const int64_t within = at % chunk_bytes;
        const int64_t part = std::min(bytes - done, chunk_bytes - within);
        std::byte* const found = chunk_to_write(node, at / chunk_bytes);
        if (found == nullptr) break;
        from.copy_to(found + within, part);
        done += part;
    }
    if (done > 0) raise_to(node.size, offset + done);
    return done;
}

ssize_t file_data::write(inode& node, const iovec* pieces, int count, int64_t offset) const {
    int64_t bytes = piece_cursor::total(pieces, count);
    if (bytes < 0 || offset < 0) return -EINVAL;
    if (bytes == 0) return 0;
    if (offset >= most_file_bytes) return -EFBIG;
    bytes = std::min(bytes, most_file_bytes - offset);
    int64_t done = 0;
    uint32_t before = 0;
    do {
        before = node.truncations.load(std::memory_order_acquire);
        if (before % 2 != 0) [[unlikely]] {
            wait_for_truncation(node);
            before = node.truncations.load(std::memory_order_acquire);
        }
        done = put(node, pieces, count, bytes, offset);
        order_.before_question();
    } while (node.truncations.load(std::memory_order_relaxed) != before);
    if (done == 0) return -ENOSPC;
    written_now(node);
    return done;
}

ssize_t file_data::append(inode& node, const iovec* pieces, int count, int64_t& offset) const {
    int64_t bytes = piece_cursor::total(pieces, count);
    if (bytes < 0) return -EINVAL;
    const held_job_lock whole(*space_, *processes_, node.lock);
    offset = node.size.load(std::memory_order_acquire);
    if (bytes == 0) return 0;
    if (offset >= most_file_bytes) return -EFBIG;
    bytes = std::min(bytes, most_file_bytes - offset);
    const int64_t done = put(node, pieces, count, bytes, offset);
    if (done == 0) return -ENOSPC;
    written_now(node);
    return done;
}

// Whoever truncates holds the lock; if it ended, nobody does.
void file_data::wait_for_truncation(inode& node) const {
    const held_job_lock whole(*space_, *processes_, node.lock);
    const uint32_t left = node.truncations.load(std::memory_order_relaxed);
    if (left % 2 != 0) node.truncations.store(left + 1, std::memory_order_release);
}

void file_data::resize(inode& node, int64_t bytes) const {
    const held_job_lock whole(*space_, *processes_, node.lock);
    if (bytes < node.size.load(std::memory_order_relaxed)) {
        node.truncations.store(node.truncations.load(std::memory_order_relaxed) | 1);
        node.size.store(bytes);
        store_order::before_clearing();
        // To the end of what there is: a process may have ended between its bytes and the size.
        fill_with_zeros(node, bytes, most_file_bytes);
        node.truncations.store(node.truncations.load(std::memory_order_relaxed) + 1);
    } else {
        raise_to(node.size, bytes);
    }
    written_now(node);
}

void file_data::extend(inode& node, int64_t end) const {
    const held_job_lock whole(*space_, *processes_, node.lock);
    raise_to(node.size, end);
    written_now(node);
}

bool file_data::have(inode& node, int64_t first, int64_t end) const {
    for (int64_t index = first / chunk_bytes; index * chunk_bytes < end; ++index)
        if (chunk_to_write(node, index) == nullptr) return false;
    return true;
}

template <class Visit>
void file_data::each_chunk(const inode& node, int64_t first_index, int64_t end_index, Visit visit) const {
    for (int64_t index = first_index; index < std::min<int64_t>(end_index, direct_chunks); ++index)
        if (std::byte* const found = chunk(node, index)) visit(index, found);
    const uint32_t root = node.root.load(std::memory_order_acquire);
    if (root == 0) return;
    for (int64_t index = std::max<int64_t>(first_index, direct_chunks); index < end_index;) {
        if (space_->tables[root].slots[index / table_slots % table_slots].load(std::memory_order_acquire) == 0) {
            index = (index / table_slots + 1) * table_slots;
            continue;
        }
        if (std::byte* const found = chunk(node, index)) visit(index, found);
        ++index;
    }
}

void file_data::fill_with_zeros(inode& node, int64_t first, int64_t end) const {
    each_chunk(node, first / chunk_bytes, (end + chunk_bytes - 1) / chunk_bytes, [&](int64_t index, std::byte* found) {
        const int64_t start = index * chunk_bytes;
        const int64_t from = std::max(first, start);
        const int64_t to = std::min(end, start + chunk_bytes);
        wipe(found + (from - start), to - from);
    });
}

// Whole pages go back to the kernel.
void file_data::wipe(void* at, int64_t bytes) const {
    auto* const first = static_cast<std::byte*>(at);
    const auto address = reinterpret_cast<uintptr_t>(first);
    const int64_t to_page = static_cast<int64_t>((page_bytes - address % page_bytes) % page_bytes);
    const int64_t head = std::min(bytes, to_page);
    const int64_t pages = (bytes - head) / page_bytes * page_bytes;
    std::memset(first, 0, static_cast<size_t>(head));
    if (pages > 0 && direct::call(SYS_madvise, direct::address(first + head), pages, MADV_REMOVE) != 0)
        std::memset(first + head, 0, static_cast<size_t>(pages));
    std::memset(first + head + pages, 0, static_cast<size_t>(bytes - head - pages));
}

table* file_data::table_of(std::atomic<uint32_t>& place, bool make) const {
    uint32_t number = place.load(std::memory_order_acquire);
    if (number == 0 && make) {
        number = take(space_->head.tables, space_->table_links, most_tables);
        place.store(number, std::memory_order_release);
    }
    return number == 0 ? nullptr : &space_->tables[number];
}

std::atomic<uint32_t>* file_data::place_of_chunk(inode& node, int64_t index, bool make) const {
    if (index < direct_chunks) return &node.direct[index];
    table* const root = table_of(node.root, make);
    table* const leaf = root == nullptr ? nullptr : table_of(root->slots[index / table_slots % table_slots], make);
    return leaf == nullptr ? nullptr : &leaf->slots[index % table_slots];
}

std::byte* file_data::chunk_to_write(inode& node, int64_t index) const {
    space& of = *space_;
    if (std::byte* const found = chunk(node, index)) [[likely]]
        return found;
    const held_job_lock all(of, *processes_, of.head.lock);
    std::atomic<uint32_t>* const place = place_of_chunk(node, index, true);
    if (place == nullptr) return nullptr;
    if (place->load(std::memory_order_acquire) == 0) {
        const uint32_t number = take(of.head.chunks, of.chunk_links, of.head.capacity);
        if (number == 0) return nullptr;
        place->store(number, std::memory_order_release);
        node.chunks.fetch_add(1, std::memory_order_relaxed);
    }
    return chunk(node, index);
}

void file_data::free_behind(inode& node, int64_t bytes) const {
    const int64_t kept = (bytes + chunk_bytes - 1) / chunk_bytes;
    each_chunk(node, kept, most_file_bytes / chunk_bytes, [&](int64_t index, std::byte* found) {
        std::atomic<uint32_t>* const place = place_of_chunk(node, index, false);
        const uint32_t number = place->exchange(0);
        wipe(found, chunk_bytes);
        give(space_->head.chunks, space_->chunk_links, number);
        node.chunks.fetch_sub(1, std::memory_order_relaxed);
    });
    const uint32_t root = node.root.load(std::memory_order_relaxed);
    if (root == 0 || kept > direct_chunks) return;
    for (const auto& leaf : space_->tables[root].slots) {
        const uint32_t number = leaf.load(std::memory_order_relaxed);
        if (number == 0) continue;
        wipe(&space_->tables[number], sizeof(table));
        give(space_->head.tables, space_->table_links, number);
    }
    node.root.store(0, std::memory_order_relaxed);
    wipe(&space_->tables[root], sizeof(table));
    give(space_->head.tables, space_->table_links, root);
}

}  // namespace halcyon::calls::in_memory
