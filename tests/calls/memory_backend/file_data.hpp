#pragma once

#include "calls/memory_backend/job_lock.hpp"
#include "calls/memory_backend/pieces.hpp"
#include "calls/memory_backend/space.hpp"
#include "calls/memory_backend/store_order.hpp"

namespace halcyon::calls::in_memory {

/// The bytes of files: chunks, found by their numbers in an inode and its tables. Chunks are zeros when they come, and
/// bytes of an inode's chunks behind its end are zeros, too; so a hole needs nothing, and a file grows by saying so.
///
/// A transfer does not know whether a truncation cuts its bytes off in the meantime: it looks at inode::truncations
/// before and behind, and writes once more if that changed (store_order). Chunks that a truncation empties stay the
/// inode's until nobody has it open (free_behind).
class file_data {
  public:
    constexpr file_data() = default;
    void start(space& of, job_processes& processes) {
        space_ = &of;
        processes_ = &processes;
        order_.start();
    }
    void after_fork() { order_.start(); }

    /// What it got; short at the end of the file.
    ssize_t read(inode& node, const iovec* pieces, int count, int64_t offset) const;
    /// Short, or -ENOSPC, when the memory is full.
    ssize_t write(inode& node, const iovec* pieces, int count, int64_t offset) const;
    ssize_t append(inode& node, const iovec* pieces, int count, int64_t& offset) const;
    void resize(inode& node, int64_t bytes) const;
    void fill_with_zeros(inode& node, int64_t first, int64_t end) const;
    /// The file is at least as long as that from then on.
    void extend(inode& node, int64_t end) const;
    /// Whether all chunks of these bytes are there now.
    [[nodiscard]] bool have(inode& node, int64_t first, int64_t end) const;

    /// Where the chunk lies; null: a hole.
    [[nodiscard]] std::byte* chunk(const inode& node, int64_t index) const;
    /// With head.lock: gives back the chunks and tables behind `bytes`, when no process has the inode open.
    void free_behind(inode& node, int64_t bytes) const;

    static int64_t now();

  private:
    [[nodiscard]] std::byte* chunk_to_write(inode& node, int64_t index) const;
    [[nodiscard]] std::atomic<uint32_t>* place_of_chunk(inode& node, int64_t index, bool make) const;
    [[nodiscard]] table* table_of(std::atomic<uint32_t>& place, bool make) const;
    int64_t put(inode& node, const iovec* pieces, int count, int64_t bytes, int64_t offset) const;
    int64_t put_by_chunks(inode& node, piece_cursor from, int64_t bytes, int64_t offset) const;
    void wait_for_truncation(inode& node) const;
    void wipe(void* at, int64_t bytes) const;
    template <class Visit>
    void each_chunk(const inode& node, int64_t first_index, int64_t end_index, Visit visit) const;

    space* space_ = nullptr;
    job_processes* processes_ = nullptr;
    store_order order_;
};

inline std::byte* file_data::chunk(const inode& node, int64_t number_in_file) const {
    const auto index = static_cast<uint64_t>(number_in_file);
    uint32_t number = 0;
    if (index < direct_chunks) [[likely]] {
        number = node.direct[index].load(std::memory_order_acquire);
    } else {
        const uint32_t root = node.root.load(std::memory_order_acquire);
        if (root == 0) return nullptr;
        const uint32_t leaf =
            space_->tables[root].slots[index / table_slots % table_slots].load(std::memory_order_acquire);
        if (leaf == 0) return nullptr;
        number = space_->tables[leaf].slots[index % table_slots].load(std::memory_order_acquire);
    }
    return number == 0 ? nullptr : space_->chunks[number];
}

}  // namespace halcyon::calls::in_memory
