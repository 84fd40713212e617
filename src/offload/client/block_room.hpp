#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "offload/client/arena.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// One client's entries of the block table, and the bytes of its arena: takes an entry for each new block, moves it on
/// to the server, and takes back what the server has let go of.
///
/// Used by one thread at a time. The client writes the states of its entries up to `servers`, each with release order;
/// the server alone writes the others (see block_state). Nothing is allocated after construction.
class block_room {
  public:
    block_room(const segment& shared, const model& data, uint32_t client);

    /// An entry with `bytes` of the arena; `constant`: it outlives iterations. nullopt: there is no room.
    std::optional<uint32_t> take(uint64_t bytes, bool constant);
    [[nodiscard]] bool has_entry() const { return !free_entries_.empty(); }
    /// An entry for bytes at `location` of the client's spill file; there is one (see has_entry()).
    uint32_t take_spilled(uint64_t location);
    void take_back_released();
    /// A server that died may have freed blocks without sending them back, and the ring on which they come may be
    /// damaged: looks at every entry once.
    void resynchronise();
    /// False: everything this client holds is its own, allocated and not cleared, or outlives iterations. Waiting for
    /// room in iteration `open` would never end.
    [[nodiscard]] bool is_more_to_come(int64_t open) const;

    [[nodiscard]] std::byte* bytes_of(uint32_t entry) const;
    void describe(uint32_t entry, const variable& v, int block, int64_t iteration, const block_shape& shape);
    /// The server may read the block; so does the client.
    void share(uint32_t entry) { table_[entry].state.store(block_state::shared_read, std::memory_order_release); }
    /// The block is the server's.
    void hand_over(uint32_t entry) { table_[entry].state.store(block_state::servers, std::memory_order_release); }
    /// What the server is told of it.
    [[nodiscard]] event_record event_of(event_kind kind, uint32_t entry) const;

    [[nodiscard]] uint64_t arena_size() const { return arena_.size(); }
    [[nodiscard]] uint64_t arena_free() const { return arena_.free_bytes(); }

  private:
    uint32_t take_entry();
    void take_back(uint32_t entry);

    /// What an entry holds of the arena. The entry itself says so too, but lies where others could write.
    struct piece {
        uint64_t offset = 0;
        uint64_t bytes = 0;  ///< 0: none
    };
    const segment& segment_;
    const model& model_;
    std::byte* arena_begin_;
    uint64_t arena_offset_;
    std::span<block_entry> table_;
    return_ring::consumer returns_;
    arena arena_;
    std::vector<uint32_t> free_entries_;
    std::vector<piece> taken_;  ///< per entry
    std::vector<bool> in_use_;  ///< per entry
    uint64_t sequence_ = 0;
    tenure tenure_seen_;
};

}  // namespace halcyon::offload
