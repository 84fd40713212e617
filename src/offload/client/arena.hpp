#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace halcyon::offload {

/// Gives out pieces of one client's arena. Lives in the client's private memory and is used by that client alone, so
/// it needs no lock; it allocates nothing after construction.
///
/// Free pieces are kept sorted by offset and merged with their neighbours. take() is first fit from below for blocks
/// of an iteration and from above for blocks that outlive iterations, so that these do not cut the arena in pieces.
class arena {
  public:
    arena() = default;
    /// `most_pieces`: how many pieces may be taken at a time.
    arena(uint64_t bytes, uint32_t most_pieces);

    enum class side { below, above };
    /// Offset of a piece of `bytes` (a multiple of block_alignment; 0 counts as one unit), or nullopt: no room.
    std::optional<uint64_t> take(uint64_t bytes, side from = side::below);
    void give_back(uint64_t offset, uint64_t bytes);

    [[nodiscard]] uint64_t free_bytes() const { return free_bytes_; }
    [[nodiscard]] uint64_t size() const { return bytes_; }

  private:
    struct piece {
        uint64_t offset, bytes;
    };
    std::vector<piece> free_;  ///< sorted by offset, no two adjacent
    uint64_t bytes_ = 0;
    uint64_t free_bytes_ = 0;
};

}  // namespace halcyon::offload
