#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What the memory backend keeps lies in one memfd, which each process of the job maps where it likes: numbers stand
/// for places in tables, 0 for none, and nothing is an address.
///
/// Who writes what: `head.lock` guards names, open files, free lists, and the fields of an inode that are no atomics.
/// An inode's own lock guards its end (appends, truncations) and is taken first. Transfers at an offset take neither:
/// they find a chunk by atomics, which stays the inode's as long as anybody has it open.
namespace halcyon::calls::in_memory {

inline constexpr int64_t chunk_bytes = 256 << 10;
inline constexpr int64_t most_file_bytes = int64_t{1} << 40;
inline constexpr uint32_t direct_chunks = 8;
inline constexpr uint32_t table_slots = 2048;  // most_file_bytes = chunk_bytes * table_slots * table_slots
inline constexpr uint32_t most_chunks = 1 << 18;
inline constexpr uint32_t most_tables = 1 << 17;
inline constexpr uint32_t most_inodes = 1 << 18;
inline constexpr uint32_t most_names = 1 << 18;
inline constexpr uint32_t most_open = 1 << 14;
inline constexpr uint32_t most_processes = 1 << 10;
inline constexpr uint32_t buckets = 1 << 16;
inline constexpr uint32_t most_path = 4096;
inline constexpr uint32_t most_name = 255;
inline constexpr uint32_t root_inode = 1;

struct inode {
    std::atomic<int64_t> size;
    std::atomic<uint32_t> truncations;  ///< odd while one is under way
    std::atomic<uint32_t> direct[direct_chunks];
    std::atomic<uint32_t> root;  ///< table of tables of the other chunks; the text of a symbolic link
    std::atomic<uint32_t> chunks;
    std::atomic<int64_t> accessed;  ///< nanoseconds since 1970
    std::atomic<int64_t> modified;
    std::atomic<int64_t> changed;
    std::atomic<uint32_t> lock;
    std::atomic<uint32_t> mode;  ///< with the type; 0: free
    std::atomic<uint32_t> user;
    std::atomic<uint32_t> group;
    std::atomic<uint32_t> links;
    std::atomic<bool> has_locks;    ///< of fcntl, ever
    std::atomic<uint32_t> lets_go;  ///< counts what ends a lock of flock
    uint32_t open_files;
    uint32_t exclusive;              ///< open file with the lock of flock
    uint32_t shared;                 ///< number of open files with a shared one
    uint32_t first_name, last_name;  ///< of a directory
    uint32_t own_name;               ///< a directory's
    uint64_t last_sequence;          ///< of its names
    uint32_t next_free;
};

struct name_entry {
    uint64_t sequence;  ///< its place in the directory
    uint32_t directory;
    uint32_t target;
    uint32_t before, behind;  ///< in the directory
    uint32_t next_in_bucket;
    uint32_t generation;  ///< another when it was freed
    uint32_t next_free;
    uint32_t length;
    char text[most_name + 1];
};

/// What descriptors that were duplicated from one another share, in all processes.
struct open_record {
    uint32_t inode;       ///< 0: free
    uint32_t generation;  ///< 24 bits
    uint32_t holders;     ///< processes
    uint32_t flags;       ///< of open(2)
    uint32_t name;        ///< that it was opened by
    uint32_t name_generation;
    int whole;    ///< LOCK_SH, LOCK_EX, or 0
    bool mapped;  ///< stays while the processes live that held it
    bool left;    ///< in the queue of those without holders
    uint32_t next_left;
    uint32_t next_free;
};

struct process_slot {
    uint64_t holds[most_open / 64 + 1];  ///< a bit for each open_record
};

struct free_link {
    uint32_t next_free;
};

struct table {
    std::atomic<uint32_t> slots[table_slots];
};

struct pool {
    uint32_t first_free;
    uint32_t touched;  ///< those above were never used
    uint32_t used;
};

struct header {
    std::atomic<uint64_t> magic;
    uint32_t capacity;  ///< chunks
    std::atomic<uint32_t> lock;
    std::atomic<uint32_t> taken_over;  ///< locks whose holder had ended
    pool inodes, names, open, chunks, tables;
    uint32_t first_left, last_left, left;  ///< open_records without holders, which stay for a while
    char scratch[3][2 * most_path];
};

struct alignas(4096) space {
    header head;
    alignas(4096) std::atomic<int> process_ids[most_processes];  ///< 0: free
    alignas(4096) process_slot processes[most_processes];
    alignas(4096) open_record open[most_open + 1];
    alignas(4096) uint32_t name_buckets[buckets];
    alignas(4096) name_entry names[most_names + 1];
    alignas(4096) inode inodes[most_inodes + 1];
    alignas(4096) free_link chunk_links[most_chunks + 1];
    alignas(4096) free_link table_links[most_tables + 1];
    alignas(4096) table tables[most_tables + 1];
    alignas(4096) std::byte chunks[most_chunks + 1][chunk_bytes];  // pages come as they are touched
};

inline constexpr uint64_t magic_number = 0x68616c63'6d656d31;

/// A number of the pool; 0: none is left. Its item is as it was left.
template <class Item>
uint32_t take(pool& of, Item* items, uint32_t most) {
    if (of.used >= most) return 0;
    uint32_t number = of.first_free;
    if (number != 0)
        of.first_free = items[number].next_free;
    else
        number = ++of.touched;
    ++of.used;
    return number;
}

template <class Item>
void give(pool& of, Item* items, uint32_t number) {
    items[number].next_free = of.first_free;
    of.first_free = number;
    --of.used;
}

}  // namespace halcyon::calls::in_memory
