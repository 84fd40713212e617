#include "offload/client/arena.hpp"

#include <algorithm>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {

arena::arena(uint64_t bytes, uint32_t most_pieces) : bytes_(bytes), free_bytes_(bytes) {
    free_.reserve(most_pieces + 2);
    free_.push_back({0, bytes});
}

std::optional<uint64_t> arena::take(uint64_t bytes, side from) {
    bytes = std::max(bytes, block_alignment);
    const auto fits = [bytes](const piece& p) { return p.bytes >= bytes; };
    uint64_t offset = 0;
    auto found = free_.end();
    if (from == side::below) {
        found = std::find_if(free_.begin(), free_.end(), fits);
        if (found == free_.end()) return std::nullopt;
        offset = found->offset;
        found->offset += bytes;
    } else {
        const auto last = std::find_if(free_.rbegin(), free_.rend(), fits);
        if (last == free_.rend()) return std::nullopt;
        found = std::prev(last.base());
        offset = found->offset + found->bytes - bytes;
    }
    found->bytes -= bytes;
    if (found->bytes == 0) free_.erase(found);
    free_bytes_ -= bytes;
    return offset;
}

void arena::give_back(uint64_t offset, uint64_t bytes) {
    bytes = std::max(bytes, block_alignment);
    free_bytes_ += bytes;
    auto next =
        std::lower_bound(free_.begin(), free_.end(), offset, [](const piece& p, uint64_t o) { return p.offset < o; });
    const bool joins_next = next != free_.end() && offset + bytes == next->offset;
    const bool joins_previous = next != free_.begin() && std::prev(next)->offset + std::prev(next)->bytes == offset;
    if (joins_previous && joins_next) {
        std::prev(next)->bytes += bytes + next->bytes;
        free_.erase(next);
    } else if (joins_previous) {
        std::prev(next)->bytes += bytes;
    } else if (joins_next) {
        next->offset = offset;
        next->bytes += bytes;
    } else {
        free_.insert(next, {offset, bytes});
    }
}

}  // namespace halcyon::offload
