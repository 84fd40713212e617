#include "offload/store/hdf5/chunk_source.hpp"

#include <cstring>

namespace halcyon::offload::hdf5 {
namespace {

/// Whether these bytes are a block's own, which stay where they are; otherwise they are in memory that the next chunk
/// takes.
bool is_of_block(std::span<const std::byte> bytes, const domain_rows& set, uint64_t row) {
    const block_view* block = row < set.rows.size() ? set.rows[row] : nullptr;
    if (block == nullptr) return false;
    const std::byte* begin = block->data.data();
    return bytes.data() >= begin && bytes.data() + bytes.size() <= begin + block->data.size();
}

}  // namespace

/// False behind the last chunk; otherwise `origin_` and `shape_` are those of one that holds a block.
bool chunk_source::find_next() {
    for (; set_ < datasets_.size(); ++set_, origin_.clear()) {
        const domain_rows& set = datasets_[set_];
        const bool first = origin_.empty();
        if (first) {
            fit(shape_, job_, set);
            if (shape_.empty) continue;
            origin_.assign(shape_.shape.size(), 0);
        }
        bool there = first || next_chunk(origin_, shape_.chunk, shape_.shape);
        while (there && shape_.chunk[0] == 1 && set.rows[origin_[0]] == nullptr)
            there = next_chunk(origin_, shape_.chunk, shape_.shape);
        if (there) return true;
    }
    return false;
}

std::optional<ready_chunk> chunk_source::next() {
    if (!find_next()) return std::nullopt;
    const auto values = cut_chunk(datasets_[set_], shape_.how.type, origin_, shape_.chunk, memory_.cut);
    return ready_chunk{set_, origin_, memory_.encoder.encode(values, shape_.how)};
}

std::span<const ready_chunk> chunk_source::next_window() {
    window_.clear();
    std::span<std::byte> room = memory_.ready.take(window_bytes);
    while (auto chunk = next()) {
        std::span<const std::byte>& bytes = chunk->encoded.bytes;
        const bool stays = is_of_block(bytes, datasets_[chunk->set], chunk->origin[0]);
        const bool kept = !stays && bytes.size() <= room.size();
        if (kept) {
            std::memcpy(room.data(), bytes.data(), bytes.size());
            const auto copy = room.first(bytes.size());
            room = room.subspan(bytes.size());
            bytes = copy;
        }
        window_.push_back(*std::move(chunk));
        // It lies where the next chunk would be encoded.
        if (!stays && !kept) break;
    }
    return window_;
}

}  // namespace halcyon::offload::hdf5
