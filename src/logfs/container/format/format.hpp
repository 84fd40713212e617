#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/crc32c.hpp"
#include "base/shared_layout.hpp"
#include "logfs/container/format/run.hpp"

/// The files of a container (docs/rooms/logfs.md says what they are for).
///
/// An index dropping is a head of one block and then blocks of records, each of `block_bytes`. The head has sectors of
/// 512 bytes, which a disk writes as a whole or not at all: the index_header, which does not change, two state_slots,
/// two commit_slots, the header once more, and what others have synced in the writer's place. Of two slots the one with
/// the higher sequence counts; a writer changes the other one, its sequence last. So each write becomes part of the
/// container by one store, and a process that is killed before it has written nothing.
///
/// A block is a block_header and records (record_coding.hpp). The records of a block can be read without those of any
/// other. Numbers are little-endian.
namespace halcyon::logfs {

inline constexpr char index_magic[8] = {'H', 'A', 'L', 'C', 'L', 'O', 'G', 'I'};
inline constexpr uint32_t format_version = 1;
inline constexpr uint32_t byte_order_mark = 0x01020304;
inline constexpr size_t block_bytes = 4096;
inline constexpr size_t sector_bytes = 512;
inline constexpr size_t host_room = 72;
inline constexpr size_t boot_id_room = 40;

/// A place in the records of an index dropping.
struct stream_place {
    uint32_t block = 0;  ///< 0: the first block behind the head
    uint32_t used = 0;   ///< bytes of its records
    uint32_t check = 0;  ///< of the block's header and these bytes

    friend bool operator==(const stream_place&, const stream_place&) = default;
    [[nodiscard]] bool is_before(const stream_place& other) const {
        return block < other.block || (block == other.block && used < other.used);
    }
};

struct index_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t check;          ///< of the header, with 0 here
    uint32_t has_checks;     ///< 1: data_check records cover the data dropping
    uint64_t salt;           ///< goes into all other check sums of the dropping
    uint64_t group;          ///< writers of one group raise their epochs together; 0: this one is alone
    int64_t created_ns;      ///< CLOCK_REALTIME
    int64_t clock_bound_ns;  ///< by how much that clock may be wrong
    int64_t pid;
    int32_t rank;  ///< -1: none
    uint32_t block_size;
    char host[host_room];
    char boot_id[boot_id_room];  ///< of the host when the writer began; empty: not known
};

/// Of a writer, in state_slot::is_closed.
inline constexpr uint16_t writer_ended = 1;  ///< nothing follows
/// Nothing follows, unless its process says again that it has the container open (directory/open_mark.hpp), and finds
/// that it still is one.
inline constexpr uint16_t writer_rests = 2;

/// What a writer has written until now. Records up to `end`, then `pattern`, then `element`. A sequence of 0 stands
/// there while the slot is being written: any other that does not fit the check is damage.
struct state_slot {
    uint64_t sequence;  ///< 0: never written
    int64_t data_bytes;
    int64_t logical_end;     ///< the size of the file if there were no other writers
    int64_t epoch_ns;        ///< 0: none was raised
    uint64_t synced_commit;  ///< the sequence of the last commit that is known to be on the disk
    uint64_t writes;
    uint64_t written_bytes;
    uint32_t cuts;       ///< truncations by this writer
    uint16_t runs;       ///< 0, 1: `pattern`, 2: `element`, too
    uint16_t is_closed;  ///< 0: the writer may write; writer_ended, writer_rests
    stream_place end;
    uint32_t check;  ///< of the slot, with 0 here
    run pattern;
    run element;
};

/// What is on the disk, once the sync after it has succeeded: records up to `end`, and the data dropping up to
/// `data_bytes`.
struct commit_slot {
    uint64_t sequence;  ///< 0: never written
    int64_t data_bytes;
    int64_t committed_ns;
    uint64_t state_sequence;  ///< of the state that was committed
    stream_place end;
    uint32_t check;  ///< of the slot, with 0 here
};

/// What the writer's last state that another process has synced for it was, is kept as a copy of that state_slot: the
/// data, the records and the runs that it names are on the device. So they count behind the last commit, too. The claim
/// follows the sync, for others who would sync: of a claim that a crash left, nobody needs anything.
struct synced_claim {
    uint64_t state_sequence;
    uint32_t reserved;
    uint32_t check;  ///< of the claim, with 0 here
};

/// What the numbers of a record are differences from: the run before.
struct coding_base {
    int64_t start = 0;
    int64_t length = 0;
    int64_t stride = 0;
    int64_t count = 0;
    int64_t physical_end = 0;
    int64_t time_ns = 0;
    int64_t epoch_ns = 0;

    friend bool operator==(const coding_base&, const coding_base&) = default;
};

struct block_header {
    uint32_t number;
    uint32_t full_used;   ///< bytes of the records of a full block; 0: it is the last one
    uint32_t full_check;  ///< likewise
    uint32_t reserved;
    coding_base base;
};

static_assert(has_copied_layout<stream_place, 12, 4>() && has_copied_layout<index_header, 184, 8>());
static_assert(has_copied_layout<state_slot, 208, 8>() && has_copied_layout<commit_slot, 48, 8>());
static_assert(has_copied_layout<synced_claim, 16, 8>());
static_assert(has_copied_layout<coding_base, 56, 8>() && has_copied_layout<block_header, 72, 8>());

inline constexpr size_t record_room = block_bytes - sizeof(block_header);

/// Of a dropping, as its name says who made it when: so its check sums can be told without its header.
inline constexpr uint64_t salt_of(int64_t created_ns, int64_t pid) {
    return (static_cast<uint64_t>(created_ns) ^ (static_cast<uint64_t>(pid) << 40)) * 0x9E3779B97F4A7C15u;
}

/// The header stands twice.
inline constexpr size_t header_copy_at = 5 * sector_bytes;
inline constexpr size_t synced_state_at = 6 * sector_bytes;
inline constexpr size_t synced_claim_at = 7 * sector_bytes;

inline constexpr size_t state_slot_at(uint64_t sequence) {
    return sector_bytes * (1 + sequence % 2);
}
inline constexpr size_t commit_slot_at(uint64_t sequence) {
    return sector_bytes * (3 + sequence % 2);
}
inline constexpr int64_t block_at(uint64_t number) {
    return static_cast<int64_t>((number + 1) * block_bytes);
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

/// Of a slot or a header, as if its own check were 0.
template <class T>
uint32_t check_of(T value, uint64_t salt) {
    value.check = 0;
    return crc32c(bytes_of(value), crc32c(bytes_of(salt)));
}

/// Of a block without records.
inline uint32_t check_of_block(uint32_t number, const coding_base& base, uint64_t salt) {
    return crc32c(bytes_of(base), crc32c(bytes_of(number), crc32c(bytes_of(salt))));
}

}  // namespace halcyon::logfs
