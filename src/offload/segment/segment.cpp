#include "offload/segment/segment.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/units.hpp"

namespace halcyon::offload {
namespace {

constexpr char segment_magic[8] = "HALCYON";
constexpr uint32_t segment_layout_version = 7;
constexpr uint64_t page_bytes = 4096;
constexpr uint64_t huge_page_bytes = uint64_t{2} << 20;
constexpr uint64_t smallest_table = 64;
constexpr uint64_t most_bytes = uint64_t{1} << 61;  ///< of one client: sums of it stay in range
constexpr uint64_t most_blocks = 16777216;          ///< as many as blocks-per-client may say

uint64_t round_up(uint64_t value, uint64_t step) {
    return (value + step - 1) / step * step;
}

uint64_t pages_at() {
    return round_up(sizeof(segment_header), page_bytes);
}
uint64_t marks_at(const segment_geometry& g) {
    return pages_at() + g.clients * sizeof(client_page);
}
uint64_t event_counts_at(const segment_geometry& g) {
    return marks_at(g) + g.actions * sizeof(action_mark);
}
uint64_t written_marks_at(const segment_geometry& g) {
    return event_counts_at(g) + uint64_t{g.events} * (g.clients + 2) * sizeof(event_count);
}
uint64_t event_rings_at(const segment_geometry& g) {
    return round_up(written_marks_at(g) + uint64_t{g.clients} * g.client_blocks * sizeof(written_mark), page_bytes);
}
uint64_t event_ring_stride(const segment_geometry& g) {
    return round_up(event_ring::bytes_for(g.event_slots), page_bytes);
}
uint64_t return_rings_at(const segment_geometry& g) {
    return event_rings_at(g) + g.clients * event_ring_stride(g);
}
uint64_t return_ring_stride(const segment_geometry& g) {
    return round_up(return_ring::bytes_for(g.return_slots), page_bytes);
}
uint64_t tables_at(const segment_geometry& g) {
    return return_rings_at(g) + g.clients * return_ring_stride(g);
}
uint64_t table_stride(const segment_geometry& g) {
    return round_up(g.blocks_per_client * sizeof(block_entry), page_bytes);
}
uint64_t absence_logs_at(const segment_geometry& g) {
    return tables_at(g) + g.clients * table_stride(g);
}
uint64_t absence_log_stride(const segment_geometry& g) {
    return round_up(absence_log::bytes_for(g.absence_slots), page_bytes);
}
uint64_t steering_at(const segment_geometry& g) {
    return absence_logs_at(g) + g.clients * absence_log_stride(g);
}
uint64_t arenas_at(const segment_geometry& g) {
    return round_up(steering_at(g) + (g.steerable > 0 ? sizeof(steering_box) : 0), g.arena_alignment);
}

}  // namespace

uint64_t segment_geometry::page_offset(uint32_t client) const {
    return pages_at() + client * sizeof(client_page);
}
uint64_t segment_geometry::action_mark_offset(uint32_t action) const {
    return marks_at(*this) + action * sizeof(action_mark);
}
uint64_t segment_geometry::event_count_offset(uint32_t event) const {
    return event_counts_at(*this) + uint64_t{event} * (clients + 2) * sizeof(event_count);
}
uint64_t segment_geometry::written_mark_offset(uint32_t client) const {
    return written_marks_at(*this) + uint64_t{client} * client_blocks * sizeof(written_mark);
}
uint64_t segment_geometry::event_ring_offset(uint32_t client) const {
    return event_rings_at(*this) + client * event_ring_stride(*this);
}
uint64_t segment_geometry::return_ring_offset(uint32_t client) const {
    return return_rings_at(*this) + client * return_ring_stride(*this);
}
uint64_t segment_geometry::table_offset(uint32_t client) const {
    return tables_at(*this) + client * table_stride(*this);
}
uint64_t segment_geometry::absence_log_offset(uint32_t client) const {
    return absence_logs_at(*this) + client * absence_log_stride(*this);
}
uint64_t segment_geometry::steering_offset() const {
    return steering_at(*this);
}
uint64_t segment_geometry::arena_offset(uint32_t client) const {
    return arenas_at(*this) + client * arena_bytes;
}

arena_need arena_need::joined(const arena_need& other) const {
    return {std::max(iteration, other.iteration), std::max(passing, other.passing),
            std::max(constant, other.constant),   std::max(largest, other.largest),
            std::max(blocks, other.blocks),       std::max(iterations, other.iterations)};
}

result<arena_need> need_of(const model& m, int rank, int size) {
    arena_need need;
    for (const store& s : m.stores) need.iterations = std::max<uint64_t>(need.iterations, s.iterations_per_file);
    for (const variable& v : m.variables) {
        for (int block = 0; block < v.blocks_per_client; ++block) {
            const block_owner owner{rank, size, block};
            if (auto shape = shape_of(m, v, owner); !shape) return shape.why();
            const auto bytes = largest_bytes(m, v, owner);
            if (++need.blocks * need.iterations > most_blocks)
                return failure{error_kind::config,
                               "variable '" + v.name + "': with it one client has more than " +
                                   std::to_string(most_blocks) + " blocks in " + std::to_string(need.iterations) +
                                   " iteration(s) of a file; lower blocks-per-client or iterations-per-file",
                               0};
            if (!bytes) continue;  // unbounded: the model demands policy spill for it
            const uint64_t room = aligned_bytes(static_cast<uint64_t>(*bytes));
            const uint64_t files = v.time_varying ? need.iterations : 1;
            if (room > most_bytes / files || need.total() + need.passing > most_bytes - files * room)
                return failure{error_kind::config,
                               "variable '" + v.name + "': with it one client's blocks of " +
                                   std::to_string(need.iterations) + " iteration(s) have more than 2^61 bytes",
                               0};
            need.largest = std::max(need.largest, room);
            if (!v.time_varying)
                need.constant += room;
            else
                (v.store.empty() ? need.passing : need.iteration) += room;
        }
    }
    return need;
}

namespace {

/// "1048576 bytes (1 MiB)"
std::string both_ways(uint64_t bytes) {
    return std::to_string(bytes) + " bytes" +
           (bytes < 1024 ? std::string() : " (" + format_bytes(static_cast<int64_t>(bytes)) + ")");
}

/// Says what one server's least size is made of. `given`: what a client has now; `beside`: what is in the segment
/// beside the clients' parts.
failure too_small(const model& m, uint32_t clients, const arena_need& need, int servers, uint64_t given,
                  uint64_t beside, uint64_t least) {
    const bool several = need.iterations > 1;
    std::string text = m.buffer.size_where + ": " + both_ways(static_cast<uint64_t>(m.buffer.bytes)) + " for ";
    if (servers > 1) text += std::to_string(servers) + " servers with ";
    text += std::to_string(clients) + " clients leave each " + both_ways(given) + ", but one client needs " +
            both_ways(need.total()) + ": ";
    if (several) text += std::to_string(need.iterations) + " iterations of a file, each with ";
    text += both_ways(need.iteration) + " of stored variables in one iteration";
    if (need.constant > 0) text += ", " + both_ways(need.constant) + " of variables that do not vary in time";
    text += ", and the largest block once more, " + both_ways(need.largest) +
            ", so that the next iteration can begin while a file is written; rings and tables take " +
            both_ways(beside / clients) + " of each client besides; ";
    if (several) text += "put fewer iterations into a file (iterations-per-file), or ";
    // The number first: it is what the file needs, exactly.
    text += "set at least " + both_ways(least);
    return {error_kind::config, text, 0};
}

/// Everything but the arenas. Failure (config): a block table would be too short.
result<segment_geometry> plan_tables(const model& m, uint32_t clients, const arena_need& need, int servers) {
    segment_geometry g;
    g.clients = clients;
    const uint64_t derived = std::max(smallest_table, 4 * need.blocks * need.iterations);
    g.blocks_per_client = static_cast<uint32_t>(
        m.buffer.blocks_per_client > 0 ? static_cast<uint64_t>(m.buffer.blocks_per_client) : derived);
    if (g.blocks_per_client < need.blocks * need.iterations + 1)
        return failure{error_kind::config,
                       m.buffer.blocks_where + ": " + std::to_string(g.blocks_per_client) +
                           " entries cannot hold the " + std::to_string(need.blocks * need.iterations) +
                           " blocks of a client's file and one more; set at least " +
                           std::to_string(need.blocks * need.iterations + 1),
                       0};
    // Each entry may have two events under way (committed, handed); signals have their own share; the rest leaves room
    // for iterations that end without blocks.
    g.event_slots =
        std::bit_ceil(2 * uint64_t{g.blocks_per_client} + static_cast<uint64_t>(m.buffer.max_pending_signals) + 64);
    // Each entry may be on its way back twice: when its bytes are free, and when the entry is.
    g.return_slots = std::bit_ceil(2 * uint64_t{g.blocks_per_client} + 1);
    g.absence_slots = std::bit_ceil(std::clamp<uint64_t>(4 * uint64_t{g.blocks_per_client}, 256, 65'536));
    g.client_blocks = first_blocks(m).back();
    g.actions = static_cast<uint32_t>(m.actions.size());
    g.events = static_cast<uint32_t>(m.events.size());
    g.steerable = static_cast<uint32_t>(m.steerable().size());
    if (static_cast<uint64_t>(m.buffer.bytes) / static_cast<uint64_t>(servers) >= 32 * huge_page_bytes)
        g.arena_alignment = huge_page_bytes;
    return g;
}

uint64_t least_arena(const arena_need& need) {
    return std::max<uint64_t>(round_up(need.total(), page_bytes), page_bytes);
}

}  // namespace

uint64_t least_bytes(const model& m, uint32_t clients, const arena_need& need, int servers) {
    const auto g = plan_tables(m, clients, need, servers);
    return g ? static_cast<uint64_t>(servers) * (arenas_at(*g) + clients * least_arena(need)) : 0;
}

result<segment_geometry> plan_segment(const model& m, uint32_t clients, const arena_need& need, int servers) {
    auto tables = plan_tables(m, clients, need, servers);
    if (!tables) return tables.why();
    segment_geometry g = *tables;
    const uint64_t given = static_cast<uint64_t>(m.buffer.bytes) / static_cast<uint64_t>(servers);
    const uint64_t overhead = arenas_at(g);
    g.arena_bytes = given > overhead ? (given - overhead) / clients / page_bytes * page_bytes : 0;
    if (g.arena_bytes < least_arena(need))
        return too_small(m, clients, need, servers, g.arena_bytes, overhead, least_bytes(m, clients, need, servers));
    g.bytes = overhead + clients * g.arena_bytes;
    return g;
}

result<segment> segment::create(const segment_geometry& geometry, bool huge_pages) {
    auto memory = shared_memory::create("halcyon-segment", geometry.bytes, huge_pages);
    if (!memory) return memory.why();
    segment s;
    s.memory_ = std::move(*memory);
    s.geometry_ = geometry;
    auto* header = new (s.memory_.data()) segment_header{};
    std::memcpy(header->magic, segment_magic, sizeof segment_magic);
    header->layout_version = segment_layout_version;
    header->clients = geometry.clients;
    header->bytes = geometry.bytes;
    for (auto* mark :
         {&header->stored_through, &header->durable_through, &header->stored_wanted, &header->durable_wanted})
        mark->store(-1, std::memory_order_relaxed);
    header->lost_from.store(INT64_MAX, std::memory_order_relaxed);
    if (geometry.steerable > 0) new (s.memory_.data() + geometry.steering_offset()) steering_box;
    for (uint32_t c = 0; c < geometry.clients; ++c) {
        auto* page = new (s.memory_.data() + geometry.page_offset(c)) client_page{};
        page->ended_through.store(-1, std::memory_order_relaxed);
        new (s.memory_.data() + geometry.event_ring_offset(c)) event_ring;
        new (s.memory_.data() + geometry.return_ring_offset(c)) return_ring;
        new (s.memory_.data() + geometry.absence_log_offset(c)) absence_log;
        // Block tables are zero, which is `free`; all marks and counts of events begin with zero, too.
    }
    return s;
}

/// What was received is not trusted: with these bounds no offset overflows, and everything lies inside.
bool segment_geometry::is_possible() const {
    const auto is_size = [](uint64_t n, uint64_t least, uint64_t most) {
        return std::has_single_bit(n) && n >= least && n <= most;
    };
    return clients > 0 && clients <= (1U << 20) && blocks_per_client <= (1U << 26) && client_blocks <= (1U << 26) &&
           is_size(event_slots, 1, uint64_t{1} << 32) && is_size(return_slots, 1, uint64_t{1} << 32) &&
           is_size(absence_slots, 1, uint64_t{1} << 32) && actions <= (1U << 20) && events <= (1U << 20) &&
           steerable <= most_steerable && is_size(arena_alignment, page_bytes, uint64_t{1} << 32) &&
           arena_bytes <= bytes / clients && bytes <= (uint64_t{1} << 56) && arena_offset(clients) <= bytes;
}

result<segment> segment::attach(descriptor fd, const segment_geometry& geometry) {
    if (!geometry.is_possible())
        return failure{error_kind::usage, "shared memory received is not laid out as any segment is", 0};
    auto memory = shared_memory::map(std::move(fd), geometry.bytes);
    if (!memory) return memory.why();
    segment s;
    s.memory_ = std::move(*memory);
    s.geometry_ = geometry;
    const segment_header& h = s.header();
    if (std::memcmp(h.magic, segment_magic, sizeof segment_magic) != 0)
        return failure{error_kind::usage, "shared memory received is no Halcyon segment", 0};
    if (h.layout_version != segment_layout_version)
        return failure{error_kind::usage,
                       "segment has layout version " + std::to_string(h.layout_version) + ", this program " +
                           std::to_string(segment_layout_version) + ": client and server are of different releases",
                       0};
    if (h.clients != geometry.clients || h.bytes != geometry.bytes)
        return failure{error_kind::usage, "segment's header disagrees with the configuration", 0};
    return s;
}

result<void> segment::touch(uint32_t client, const arena_need& need) {
    if (auto done = memory_.touch(0, geometry_.event_ring_offset(0)); !done) return done;
    if (auto done = memory_.touch(geometry_.event_ring_offset(client), event_ring::bytes_for(geometry_.event_slots));
        !done)
        return done;
    if (auto done = memory_.touch(geometry_.return_ring_offset(client), return_ring::bytes_for(geometry_.return_slots));
        !done)
        return done;
    if (auto done = memory_.touch(geometry_.table_offset(client), geometry_.blocks_per_client * sizeof(block_entry));
        !done)
        return done;
    if (auto done =
            memory_.touch(geometry_.absence_log_offset(client), absence_log::bytes_for(geometry_.absence_slots));
        !done)
        return done;
    if (geometry_.steerable > 0 && client == 0)
        if (auto done = memory_.touch(geometry_.steering_offset(), sizeof(steering_box)); !done) return done;
    const uint64_t below = std::min(geometry_.arena_bytes, 2 * (need.total() + need.passing));
    const uint64_t above = std::min(geometry_.arena_bytes, need.constant);
    const uint64_t begin = geometry_.arena_offset(client);
    if (auto done = memory_.touch(begin, below); !done) return done;
    return above == 0 ? result<void>() : memory_.touch(begin + geometry_.arena_bytes - above, above);
}

result<checked_block> check_block(const segment& s, const model& m, uint32_t client, uint32_t index) {
    const auto bad = [&](const std::string& what) {
        return failure{error_kind::usage,
                       "block entry " + std::to_string(index) + " of client " + std::to_string(client) + ": " + what,
                       0};
    };
    const segment_geometry& g = s.geometry();
    if (client >= g.clients || index >= g.blocks_per_client) return bad("no such entry");
    const block_entry& e = s.table(client)[index];
    checked_block b{client, index, e.variable, e.iteration, e.sequence, e.location, e.in_spill != 0, e.block, e.shape};
    if (b.variable >= m.variables.size()) return bad("no variable " + std::to_string(b.variable));
    const variable& v = m.variables[b.variable];
    const layout& l = m.layouts[v.layout_id];
    if (b.iteration < 0) return bad("iteration " + std::to_string(b.iteration));
    if (b.block < 0 || b.block >= v.blocks_per_client) return bad("block " + std::to_string(b.block));
    const auto dimensions = static_cast<int32_t>(l.dimensions.size());
    for (const extents* x :
         {&b.shape.dimensions, &b.shape.global, &b.shape.offset, &b.shape.ghost_before, &b.shape.ghost_after})
        if (x->rank != dimensions) return bad("has " + std::to_string(x->rank) + " dimensions");
    __int128 bytes = size_of(l.type);
    __int128 whole = 1;
    for (int i = 0; i < dimensions; ++i) {
        const int64_t n = b.shape.dimensions[i];
        const int64_t before = b.shape.ghost_before[i];
        const int64_t after = b.shape.ghost_after[i];
        const int64_t most = int64_t{1} << 53;
        for (int64_t x : {n, before, after, b.shape.offset[i], b.shape.global[i]})
            if (x < 0 || x > most) return bad("an extent of " + std::to_string(x));
        const int64_t interior = n - before - after;
        if (interior < 0 || b.shape.offset[i] + interior > b.shape.global[i]) return bad("leaves the whole");
        bytes *= n;
        whole *= b.shape.global[i];
        if (bytes > (__int128{1} << 62) || whole > (__int128{1} << 62)) return bad("is too large");
    }
    if (bytes != b.shape.bytes) return bad("has " + std::to_string(b.shape.bytes) + " bytes, which its extents do not");
    const auto size = static_cast<uint64_t>(b.shape.bytes);
    if (b.in_spill && s.page(client).spilled_blocks.load(std::memory_order_relaxed) == 0)
        return bad("lies in a spill file, of a client that has none");
    if (!b.in_spill) {
        const uint64_t from = g.arena_offset(client);
        if (b.location < from || b.location > from + g.arena_bytes || size > from + g.arena_bytes - b.location)
            return bad("lies outside the client's arena");
    }
    return b;
}

}  // namespace halcyon::offload
