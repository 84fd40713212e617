#include "offload/store/contents/chunking.hpp"

#include <algorithm>

namespace halcyon::offload {
namespace {

constexpr uint64_t largest_chunk = uint64_t{1} << 30;
/// Large enough for a disk's sequential speed, small enough that one point's series does not read much else.
constexpr uint64_t series_chunk = uint64_t{1} << 18;

uint64_t product(const std::vector<uint64_t>& shape) {
    uint64_t n = 1;
    for (const uint64_t v : shape) n *= v;
    return n;
}

void split_slowest(std::vector<uint64_t>& chunk, uint64_t element_bytes) {
    for (uint64_t& extent : chunk) {
        while (extent > 1 && product(chunk) * element_bytes > largest_chunk) extent = (extent + 1) / 2;
    }
}

void shrink_box(std::vector<uint64_t>& chunk, uint64_t element_bytes) {
    while (product(chunk) * element_bytes > series_chunk) {
        const auto longest = std::max_element(chunk.begin() + 1, chunk.end());
        if (longest == chunk.end() || *longest == 1) return;
        *longest = (*longest + 1) / 2;
    }
}

}  // namespace

std::vector<uint64_t> chunk_shape(int64_t rows, const extents& block, int64_t element_bytes, reader expected) {
    const auto bytes = static_cast<uint64_t>(element_bytes);
    std::vector<uint64_t> chunk{1};
    for (const int64_t extent : block.span()) chunk.push_back(static_cast<uint64_t>(std::max<int64_t>(extent, 1)));
    if (expected == reader::time_series) {
        chunk[0] = static_cast<uint64_t>(std::max<int64_t>(rows, 1));
        shrink_box(chunk, bytes);
    } else if (expected == reader::maps) {
        for (size_t i = 1; i + 2 < chunk.size(); ++i) chunk[i] = 1;
    }
    split_slowest(chunk, bytes);
    return chunk;
}

}  // namespace halcyon::offload
