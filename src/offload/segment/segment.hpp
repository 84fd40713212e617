#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/doorbell.hpp"
#include "base/shared_layout.hpp"
#include "base/shared_memory.hpp"
#include "base/spsc_ring.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/absence_log.hpp"
#include "offload/segment/ledger.hpp"
#include "offload/segment/steering_box.hpp"
#include "offload/segment/tenure.hpp"

namespace halcyon::offload {

/// Who may touch a block. Moves only forward, and back to `free` by the server.
///
///     free ──alloc──▶ private ──commit──▶ shared_read ──clear──▶ servers ──release──▶ free
///                        └───────────────write (copy, then)──────▲  └──▶ stored_early ──▲
///
/// The client writes the states up to `servers`, with release order, each before the event that announces it; only
/// the server writes the others. A server that takes over reads the states instead of events that may be lost.
/// `stored_early`: the block is in an early part of its iteration and its bytes are free; the entry says so until the
/// iteration is stored.
enum class block_state : uint32_t { free = 0, private_to_client, shared_read, servers, stored_early };

/// One block of a client. The client fills it before it leaves `private_to_client`; the server copies it once and
/// checks the copy (see check_block): contents of shared memory are not trusted.
struct alignas(64) block_entry {
    std::atomic<block_state> state;
    uint32_t variable;
    int64_t iteration;
    uint64_t sequence;  ///< counts the uses of this entry
    uint64_t location;  ///< offset in the segment, or in the client's spill file
    uint32_t in_spill;  ///< 1: `location` is in the spill file
    int32_t block;
    block_shape shape;
};
static_assert(has_shared_layout<block_entry, 384, 64>() && has_copied_layout<block_shape, 328, 8>());
static_assert(offsetof(block_entry, state) == 0 && offsetof(block_entry, variable) == 4 &&
              offsetof(block_entry, iteration) == 8 && offsetof(block_entry, sequence) == 16 &&
              offsetof(block_entry, location) == 24 && offsetof(block_entry, in_spill) == 32 &&
              offsetof(block_entry, block) == 36 && offsetof(block_entry, shape) == 40);
static_assert(are_shared_atomics<block_state>);

enum class event_kind : uint8_t {
    block_committed = 1,  ///< entry `index` is shared_read
    block_handed,         ///< entry `index` is the server's
    block_skipped,        ///< variable `index`, block `value[0]`: dropped, buffer full
    signal,               ///< event `index`
    end_iteration,        ///< value: begin_ns, visible_ns, blocked_ns, compute_ns, bytes
    closed,               ///< the client will send nothing more
    block_uncommitted,    ///< variable `index`, block `value[0]`: allocated, and not committed when the client closed
    steered,  ///< parameter `index` since `iteration`, by request `sequence`; value: bits of it, asked_ns, process,
              ///< user
};

/// What a client tells its server; 64 bytes, one cache line.
struct alignas(64) event_record {
    event_kind kind;
    uint8_t unused[3];
    uint32_t index;
    int64_t iteration;
    uint64_t sequence;  ///< of a block entry
    int64_t value[5];
};
static_assert(has_copied_layout<event_record, 64, 64>());
static_assert(offsetof(event_record, kind) == 0 && offsetof(event_record, index) == 4 &&
              offsetof(event_record, iteration) == 8 && offsetof(event_record, sequence) == 16 &&
              offsetof(event_record, value) == 24);

enum class server_state : uint32_t { none = 0, running, drained, finished };

/// What the loop of a server may do for as long as the storage takes.
enum class server_act : uint32_t { serving = 0, syncing_at_end, showing_at_end };

/// The first page of a segment.
struct segment_header {
    char magic[8];  ///< "HALCYON" and a zero
    uint32_t layout_version;
    uint32_t clients;
    uint64_t bytes;
    tenure_word tenure;  ///< whose the segment is
    ledger_book ledger;
    std::atomic<server_state> state;
    std::atomic<uint32_t> may_exit;  ///< 1: the clients are done with a drained server; 2: build the last view first
    doorbell bell;                   ///< rings the server
    std::atomic<uint32_t> settled;   ///< client: what the last server left is put in order
    alignas(64) std::atomic<uint64_t> heartbeats;  ///< server: counts the rounds of its loop, two a second at least
    std::atomic<server_act> act;                   ///< server: what it does between two of them
    alignas(64) std::atomic<uint32_t> progress;    ///< futex: bumped when anything below or a release changed
    std::atomic<int64_t> stored_through;           ///< as in the ledger, for those who wait
    std::atomic<int64_t> durable_through;
    std::atomic<int64_t> stored_wanted;  ///< somebody waits for this iteration: do not wait for a full group
    std::atomic<int64_t> durable_wanted;
    std::atomic<uint32_t> failed_files;    ///< what could not be written or synced
    std::atomic<uint32_t> unsaved_counts;  ///< 1: the run's counts could not be saved at the end
    std::atomic<int64_t> lost_from;        ///< the first iteration concerned; INT64_MAX: none
    char last_error[512];                  ///< why, written before the others are raised
};
static_assert(has_shared_layout<segment_header, 1024, 64>());
static_assert(offsetof(segment_header, magic) == 0 && offsetof(segment_header, layout_version) == 8 &&
              offsetof(segment_header, clients) == 12 && offsetof(segment_header, bytes) == 16);
static_assert(offsetof(segment_header, tenure) == 24 && offsetof(segment_header, ledger) == 32 &&
              offsetof(segment_header, state) == 360 && offsetof(segment_header, may_exit) == 364);
static_assert(offsetof(segment_header, bell) == 368 && offsetof(segment_header, settled) == 372 &&
              offsetof(segment_header, heartbeats) == 384 && offsetof(segment_header, act) == 392);
static_assert(offsetof(segment_header, progress) == 448 && offsetof(segment_header, stored_through) == 456 &&
              offsetof(segment_header, durable_through) == 464);
static_assert(offsetof(segment_header, stored_wanted) == 472 && offsetof(segment_header, durable_wanted) == 480 &&
              offsetof(segment_header, failed_files) == 488);
static_assert(offsetof(segment_header, unsaved_counts) == 492 && offsetof(segment_header, lost_from) == 496 &&
              offsetof(segment_header, last_error) == 504);
static_assert(are_shared_atomics<server_state, server_act, uint32_t, int64_t, uint64_t>);

/// Per client: what each side says about itself. What the server looks at in each round of its loop has a cache line of
/// its own: the client does not wait for it when it counts.
struct alignas(64) client_page {
    std::atomic<uint32_t> waiting;                        ///< client: blocked, needs room
    std::atomic<uint32_t> closed;                         ///< client: said goodbye
    std::atomic<int32_t> pid;                             ///< client: its process
    std::atomic<int32_t> rank;                            ///< client: in the communicator of open
    std::atomic<uint64_t> pid_namespace;                  ///< client: what that number counts in; 0: not known
    std::atomic<uint32_t> cared_for;                      ///< client: without a server, its blocks are stored
    std::atomic<uint32_t> detached;                       ///< client: closed, and looks after its blocks no more
    alignas(64) std::atomic<int64_t> ended_through;       ///< client: last iteration it ended; -1 none
    std::atomic<uint64_t> skipped_blocks, skipped_bytes;  ///< client: totals since open
    std::atomic<uint64_t> spilled_blocks, spilled_bytes;
    std::atomic<uint64_t> inlined_blocks, inlined_bytes;
    alignas(64) std::atomic<uint64_t> signals_taken;  ///< server: popped
    std::atomic<uint64_t> signals_done;               ///< server: their actions have run
    std::atomic<uint64_t> iterations_taken;           ///< server: how many ends of an iteration it popped
    std::atomic<uint32_t> dead;                       ///< server: this client died
};
static_assert(has_shared_layout<client_page, 192, 64>());
static_assert(offsetof(client_page, waiting) == 0 && offsetof(client_page, closed) == 4 &&
              offsetof(client_page, pid) == 8 && offsetof(client_page, rank) == 12 &&
              offsetof(client_page, pid_namespace) == 16 && offsetof(client_page, cared_for) == 24 &&
              offsetof(client_page, detached) == 28);
static_assert(offsetof(client_page, ended_through) == 64 && offsetof(client_page, skipped_blocks) == 72 &&
              offsetof(client_page, skipped_bytes) == 80);
static_assert(offsetof(client_page, spilled_blocks) == 88 && offsetof(client_page, spilled_bytes) == 96 &&
              offsetof(client_page, inlined_blocks) == 104 && offsetof(client_page, inlined_bytes) == 112);
static_assert(offsetof(client_page, signals_taken) == 128 && offsetof(client_page, signals_done) == 136 &&
              offsetof(client_page, iterations_taken) == 144 && offsetof(client_page, dead) == 152);
static_assert(are_shared_atomics<int32_t, uint32_t, int64_t, uint64_t>);

/// Per action of type module: whether a server died in it. One that did is not run again.
struct action_mark {
    std::atomic<uint32_t> running;  ///< server: threads that are in it
    std::atomic<uint32_t> aside;
};
static_assert(has_shared_layout<action_mark, 8, 4>());
static_assert(offsetof(action_mark, running) == 0 && offsetof(action_mark, aside) == 4);

/// Per event of scope node: how often it ran, the iteration in which it was raised last, and per client how often it
/// was raised.
using event_count = std::atomic<uint64_t>;
static_assert(has_shared_layout<event_count, 8, 8>());

/// Per client and block of a variable: one more than the last iteration that the client ended and wrote it in; 0: none.
using written_mark = std::atomic<int64_t>;
static_assert(has_shared_layout<written_mark, 8, 8>());

/// Where things lie in a segment: computed alike by everybody from the model, never read from the segment.
///
///     header | client pages | marks, counts of events, written marks | event rings | return rings | block tables |
///     absence logs | steering box, where parameters are steerable | (aligned) arenas
struct segment_geometry {
    uint32_t clients = 0;
    uint32_t blocks_per_client = 0;  ///< entries of each block table
    uint32_t client_blocks = 0;      ///< blocks that a client can write in an iteration, of all variables
    uint64_t event_slots = 0;        ///< of each event ring, a power of two
    uint64_t return_slots = 0;       ///< of each return ring, a power of two
    uint64_t absence_slots = 0;      ///< of each absence log, a power of two
    uint32_t actions = 0;            ///< of the configuration
    uint32_t events = 0;
    uint32_t steerable = 0;           ///< parameters
    uint64_t arena_bytes = 0;         ///< of each arena, a multiple of 4096
    uint64_t arena_alignment = 4096;  ///< of the first arena: a huge page where the segment is large enough
    uint64_t bytes = 0;               ///< of all

    [[nodiscard]] uint64_t page_offset(uint32_t client) const;
    [[nodiscard]] uint64_t action_mark_offset(uint32_t action) const;
    [[nodiscard]] uint64_t event_count_offset(uint32_t event) const;
    [[nodiscard]] uint64_t written_mark_offset(uint32_t client) const;
    [[nodiscard]] uint64_t event_ring_offset(uint32_t client) const;
    [[nodiscard]] uint64_t return_ring_offset(uint32_t client) const;
    [[nodiscard]] uint64_t table_offset(uint32_t client) const;
    [[nodiscard]] uint64_t absence_log_offset(uint32_t client) const;
    [[nodiscard]] uint64_t steering_offset() const;
    [[nodiscard]] uint64_t arena_offset(uint32_t client) const;
    [[nodiscard]] bool is_possible() const;
    bool operator==(const segment_geometry&) const = default;
};

/// What one client needs at least, in bytes of arena.
struct arena_need {
    uint64_t iteration = 0;   ///< stored, time-varying variables of one iteration
    uint64_t passing = 0;     ///< time-varying variables of one iteration that no store keeps
    uint64_t constant = 0;    ///< variables that outlive iterations
    uint64_t largest = 0;     ///< the largest block
    uint64_t blocks = 0;      ///< blocks of one iteration, all variables
    uint64_t iterations = 1;  ///< iterations that lie in the arena until their file is closed

    /// The least with which a session can go on: what no store keeps may leave as soon as it is handed over.
    [[nodiscard]] uint64_t total() const { return iteration * iterations + constant + largest; }
    /// What either of two clients needs: arenas of a node are equally large.
    [[nodiscard]] arena_need joined(const arena_need& other) const;
};

/// The need of the client with `rank` of `size`. Failure (config): an extent cannot be evaluated.
result<arena_need> need_of(const model& m, int rank, int size);

/// Divides `m.buffer.bytes` among the `servers` of a machine, and this server's part among its `clients`. Failure
/// (config): an arena would hold less than `need`; the message names the size needed.
result<segment_geometry> plan_segment(const model& m, uint32_t clients, const arena_need& need, int servers = 1);

/// The least `m.buffer.bytes` with which plan_segment() succeeds; 0 when no size would do.
[[nodiscard]] uint64_t least_bytes(const model& m, uint32_t clients, const arena_need& need, int servers = 1);

/// Which of the `servers` of a machine has the client `index` of its `clients`: neighbours stay together.
[[nodiscard]] inline int server_of(int index, int clients, int servers) {
    return static_cast<int>(int64_t{index} * servers / clients);
}

/// Blocks lie at multiples of this in an arena.
inline constexpr uint64_t block_alignment = 64;
inline uint64_t aligned_bytes(uint64_t bytes) {
    return (bytes + block_alignment - 1) / block_alignment * block_alignment;
}

using event_ring = spsc_ring<event_record>;
/// Indices of block entries that the server released, on their way back to the client.
using return_ring = spsc_ring<uint32_t>;
static_assert(has_shared_layout<event_ring, 128, 64>() && has_shared_layout<return_ring, 128, 64>());

/// A mapped segment, seen through its geometry.
class segment {
  public:
    segment() = default;
    /// A new segment for `geometry`, with nothing in it.
    static result<segment> create(const segment_geometry& geometry, bool huge_pages);
    /// A segment made by another process. Failure (usage): magic, version or size disagree with `geometry`.
    static result<segment> attach(descriptor fd, const segment_geometry& geometry);

    [[nodiscard]] segment_header& header() const { return *at<segment_header>(0); }
    [[nodiscard]] client_page& page(uint32_t client) const { return *at<client_page>(geometry_.page_offset(client)); }
    [[nodiscard]] action_mark& mark_of(uint32_t action) const {
        return *at<action_mark>(geometry_.action_mark_offset(action));
    }
    /// How often an event of scope node ran, and how often `client` raised it.
    [[nodiscard]] event_count& fired(uint32_t event) const {
        return *at<event_count>(geometry_.event_count_offset(event));
    }
    [[nodiscard]] event_count& raised(uint32_t event, uint32_t client) const {
        return *at<event_count>(geometry_.event_count_offset(event) + (client + 2) * sizeof(event_count));
    }
    /// The iteration in which an event of scope node was raised last.
    [[nodiscard]] event_count& raised_in(uint32_t event) const {
        return *at<event_count>(geometry_.event_count_offset(event) + sizeof(event_count));
    }
    /// Of each block of `client`, in the order of first_blocks().
    [[nodiscard]] std::span<written_mark> written(uint32_t client) const {
        return {at<written_mark>(geometry_.written_mark_offset(client)), geometry_.client_blocks};
    }
    [[nodiscard]] absence_log& absences(uint32_t client) const {
        return *at<absence_log>(geometry_.absence_log_offset(client));
    }
    /// Only where the geometry has steerable parameters.
    [[nodiscard]] steering_box& steering() const { return *at<steering_box>(geometry_.steering_offset()); }
    [[nodiscard]] event_ring* events(uint32_t client) const {
        return at<event_ring>(geometry_.event_ring_offset(client));
    }
    [[nodiscard]] return_ring* returns(uint32_t client) const {
        return at<return_ring>(geometry_.return_ring_offset(client));
    }
    [[nodiscard]] std::span<block_entry> table(uint32_t client) const {
        return {at<block_entry>(geometry_.table_offset(client)), geometry_.blocks_per_client};
    }
    [[nodiscard]] std::byte* bytes_at(uint64_t offset) const { return memory_.data() + offset; }
    [[nodiscard]] const segment_geometry& geometry() const { return geometry_; }
    [[nodiscard]] int fd() const { return memory_.fd(); }

    /// Enters the pages that `client` uses into this process's page tables: of its arena those for two rounds of
    /// `need`. What is beyond is entered when it is first written, once, at about the cost of writing it twice.
    result<void> touch(uint32_t client, const arena_need& need);

    /// Bumps `progress` and wakes whoever waits for it.
    void announce_progress() const {
        header().progress.fetch_add(1, std::memory_order_acq_rel);
        futex_wake(header().progress);
    }

  private:
    template <class T>
    T* at(uint64_t offset) const {
        return std::launder(reinterpret_cast<T*>(memory_.data() + offset));
    }

    shared_memory memory_;
    segment_geometry geometry_;
};

/// A private copy of a block entry that passed every check.
struct checked_block {
    uint32_t client = 0;
    uint32_t index = 0;
    uint32_t variable = 0;
    int64_t iteration = 0;
    uint64_t sequence = 0;
    uint64_t location = 0;
    bool in_spill = false;
    int32_t block = 0;
    block_shape shape;
};

/// Copies entry `index` of `client` and checks the copy against model and geometry: variable, iteration ≥ 0, block
/// number, ranks and extents, product = bytes, location inside the client's arena, or in a spill file that
/// the client has. Failure (usage): what is wrong.
result<checked_block> check_block(const segment& s, const model& m, uint32_t client, uint32_t index);

}  // namespace halcyon::offload
